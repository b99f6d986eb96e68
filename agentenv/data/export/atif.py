"""Episodes in Harbor's Agent Trajectory Interchange Format (ATIF), version 1.7.

What the agent said is a step of source `agent`; what the environment answered is that step's observation; the opening
is steps of `system` and `user`. Rewards, actions and the task are in `extra`, which the format leaves to its writers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from agentenv import __version__
from agentenv.data.export.conversation import Message, calls_of, heard_and_said, text_of
from agentenv.trajectory import Trajectory, Turn

SCHEMA = "ATIF-v1.7"
COUNTS = ("prompt_tokens", "completion_tokens", "cached_tokens")


def atif(trajectory: Trajectory, number: int, style: str | None = None) -> dict[str, Any]:
    """The document of an episode with at least one turn; `number` tells it from others of its task."""
    described = dict(trajectory.agent)
    steps = [{"step_id": place, **step} for place, step in enumerate(_steps(trajectory, style), 1)]
    agent = {
        "name": str(described.pop("name", "agent")),
        "version": str(described.pop("version", __version__)),
        **({"model_name": described.pop("model")} if isinstance(described.get("model"), str) else {}),
        **({"extra": described} if described else {}),
    }
    result = {name: getattr(trajectory, name) for name in ("success", "reward", "score", "error")}
    return {
        "schema_version": SCHEMA,
        "trajectory_id": f"{trajectory.task.id}:{number}",
        "agent": agent,
        "steps": steps,
        "final_metrics": {
            **_totals(trajectory),
            "total_steps": len(steps),
            "extra": {"outcome": trajectory.outcome.value, **result},
        },
        "extra": {
            "task": asdict(trajectory.task),
            "env": trajectory.env,
            "env_version": trajectory.env_version,
            "env_options": dict(trajectory.env_options),
            "max_steps": trajectory.max_steps,
            "tasks_digest": trajectory.tasks_digest,
        },
    }


def _steps(trajectory: Trajectory, style: str | None) -> Iterator[dict[str, Any]]:
    pairs = heard_and_said(trajectory, style)
    final: list[Message] = [{"role": "user", "content": trajectory.final_observation}]
    answers = [*(heard for heard, _ in pairs[1:]), final if trajectory.final_observation else []]
    yield from (_told(message) for message in pairs[0][0])
    prompt: list[int] = []
    for turn, (_, said), answer in zip(trajectory.turns, pairs, answers, strict=True):
        prompt = [*([] if turn.fresh else prompt), *(turn.prompt_ids or ())]
        results = [message for message in answer if message["role"] in ("user", "tool")]
        yield _acted(turn, said, results, prompt)
        prompt = [*prompt, *(turn.token_ids or ())]
        yield from (_told(message) for message in answer if message["role"] not in ("user", "tool"))


def _told(message: Message) -> dict[str, Any]:
    """A step of the opening, or what was put into the agent's mouth."""
    role = str(message["role"])
    if role == "assistant":
        return {"source": "agent", "message": text_of(message), "llm_call_count": 0}
    return {"source": "system" if role == "system" else "user", "message": text_of(message)}


def _acted(turn: Turn, said: Message, answer: list[Message], prompt: list[int]) -> dict[str, Any]:
    calls = calls_of(said)
    known = {call["id"] for call in calls}
    noted = turn.info.get("agent")
    notes: Mapping[str, Any] = noted if isinstance(noted, Mapping) else {}
    asked = turn.messages is not None  # a script has no messages, and no model was called
    extra = {"action": turn.action, "reward": turn.reward, "malformed": turn.malformed, "weight": said.get("weight")}
    step = {
        "source": "agent",
        "message": text_of(said),
        "reasoning_content": said.get("reasoning_content") if asked else None,
        "tool_calls": [
            {"tool_call_id": call["id"], "function_name": call["name"], "arguments": call["arguments"]}
            for call in calls
        ],
        "observation": {"results": [_result(message, known) for message in answer]} if answer else None,
        "metrics": _metrics(turn, notes, prompt) if asked else None,
        "llm_call_count": None if asked else 0,
        "extra": {name: value for name, value in extra.items() if value is not None},
    }
    return {name: value for name, value in step.items() if value is not None and value not in ([], {})}


def _result(message: Message, calls: set[str]) -> dict[str, Any]:
    call = message.get("tool_call_id")
    return {**({"source_call_id": call} if call in calls else {}), "content": text_of(message)}


def _metrics(turn: Turn, notes: Mapping[str, Any], prompt: list[int]) -> dict[str, Any]:
    found: dict[str, Any] = {name: notes[name] for name in COUNTS if isinstance(notes.get(name), int)}
    if turn.token_ids is not None:
        found |= {"prompt_tokens": len(prompt), "completion_tokens": len(turn.token_ids)}
        found |= {"prompt_token_ids": prompt, "completion_token_ids": turn.token_ids}
        found |= {"logprobs": turn.logprobs} if turn.logprobs is not None else {}
    if isinstance(notes.get("cost"), int | float):
        found["extra"] = {"cost": notes["cost"]}  # in the currency of the price table, perhaps not US dollars
    return found


def _totals(trajectory: Trajectory) -> dict[str, int]:
    """Sums of what every turn noted."""
    notes = [turn.info.get("agent") for turn in trajectory.turns]
    found = {}
    for name in COUNTS:
        counts = [note[name] for note in notes if isinstance(note, Mapping) and isinstance(note.get(name), int)]
        if counts and len(counts) == len(notes):
            found[f"total_{name}"] = sum(counts)
    return found
