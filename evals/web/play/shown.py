"""What the page is told, as JSON: texts of environments with every hidden character made visible, and never as HTML."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from agentenv.agents.prompts import opening_of
from agentenv.errors import AgentEnvError
from agentenv.protocol import Outcome
from agentenv.registry import EnvSpec
from evals.web.play.game import Game
from evals.web.texts import visible

WORDS: dict[Outcome, str] = {
    Outcome.SUCCESS: "Solved",
    Outcome.FAILURE: "Not solved",
    Outcome.STEP_LIMIT: "Out of steps",
    Outcome.TIME_LIMIT: "Out of time",
    Outcome.AGENT_ERROR: "Given up",
    Outcome.ENV_ERROR: "The environment broke",
    Outcome.INFRA_LOST: "The session was lost",
    Outcome.CANCELLED: "Left",
}


def game_json(game: Game, *, since: int = 0) -> dict[str, Any]:
    """The game with its turns from `since` on."""
    chosen = game.chosen
    return {
        "id": game.id,
        "env": chosen.spec.id,
        "title": chosen.spec.title,
        "task": chosen.task.id,
        "source": chosen.source,
        "practice": game.practice,
        "hints": game.hints,
        "step": len(game.turns),
        "max_steps": game.session.max_steps,
        "max_action_bytes": game.session.limits.max_action_bytes,
        "since": since,
        "turns": [
            {"observation": visible(turn.observation), "action": visible(turn.action)} for turn in game.turns[since:]
        ],
        "observation": visible(game.observation),
        "image": game.image is not None,
        "actions": None
        if game.offered is None
        else [{"send": action, "show": visible(action)} for action in game.offered],
        "end": _end_json(game),
    }


def _end_json(game: Game) -> dict[str, Any] | None:
    end = game.end
    if end is None:
        return None
    task = game.chosen.task
    return {
        "outcome": end.outcome.value,
        "words": WORDS.get(end.outcome, end.outcome.value),
        "valid": end.outcome.valid,
        "success": end.success,
        "reward": sum(turn.reward for turn in game.turns),
        "score": end.score,
        "steps": len(game.turns),
        "error": None if end.error is None else visible(end.error),
        "rule": game.chosen.spec.success_rule,
        "category": task.category,
        "difficulty": task.difficulty,
        "why": _why(game.info),
        "stored": None if game.stored is None else {"run": game.stored.run, "episode": game.stored.episode},
        "problem": game.problem,
    }


def _why(info: Mapping[str, Any]) -> list[dict[str, str]]:
    """What the environment says about the last step, as names and texts; checks first."""
    names = sorted(info, key=lambda name: name != "checks")
    told = [(name, _text(info[name])) for name in names if info[name] not in ("", None, [], {})]
    return [{"name": visible(name.replace("_", " ")), "text": visible(text)} for name, text in told]


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(item, Mapping) and "passed" in item for item in value):
        return "\n".join(_check(item) for item in value)
    return json.dumps(value, indent=1, ensure_ascii=False)


def _check(item: Mapping[str, Any]) -> str:
    """`failed: db: missing: a new row in customer`"""
    verdict = "undecided" if item["passed"] is None else "passed" if item["passed"] else "failed"
    return ": ".join([verdict, *(str(value) for name, value in item.items() if name != "passed" and value)])


def brief_json(spec: EnvSpec) -> dict[str, Any]:
    """What agents are told before the first observation."""
    found = {"grammar": spec.action_grammar, "rules": "", "opening": ""}
    try:
        opening = opening_of(spec)
    except AgentEnvError:  # without a prompt the grammar is all there is
        return found
    said = [message["content"] for message in opening.prompt.messages if message["role"] == "user"]
    return {**found, "rules": opening.prompt.rules, "opening": visible("\n\n".join(said))}
