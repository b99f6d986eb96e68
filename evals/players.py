"""The agents of a run: by name with settings, or by a YAML file that holds both, so that a matrix can be typed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from agentenv.agents import AgentSpec, make_agent
from agentenv.errors import BadCall
from agentenv.registry import get_spec
from evals.suite import Suite

SCRIPTED = frozenset({"noop", "oracle", "random"})
"""Agents that take no settings."""

LONGEST_LABEL = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Player:
    """An agent to evaluate, by name and settings, so that a later sitting can make it again."""

    name: str
    settings: Mapping[str, Any] = field(default_factory=dict)

    def make(self) -> AgentSpec:
        """The agent; BadAgent when there is none or it does not take a setting."""
        return make_agent(self.name, **self.settings)

    def on(self, suite: Suite) -> Player:
        """The same with the suite's settings, where it asks a model and has none of its own."""
        if "model" not in self.settings:
            return self
        return replace(self, settings={**suite.agent, **self.settings})


def players_of(wanted: Sequence[str], settings: Mapping[str, Any]) -> list[Player]:
    """The agents by name or file. Settings go to those that ask a model and are named without a file; a scripted
    agent refuses them when it is alone."""
    files = [name for name in wanted if _is_file(name)]
    named = [name for name in wanted if name not in files]
    scripted = SCRIPTED if set(named) - SCRIPTED else frozenset[str]()
    players = [
        _from_file(Path(name)) if name in files else Player(name=name, settings={} if name in scripted else settings)
        for name in wanted
    ]
    for i, player in enumerate(players):
        if player in players[:i]:
            raise BadCall(f"--agent {wanted[i]} is given twice; use --attempts for more episodes")
    return players


def _is_file(name: str) -> bool:
    return name.endswith((".yaml", ".yml"))


def _from_file(path: Path) -> Player:
    """`agent: NAME`, and its settings beside it."""
    import msgspec

    try:
        data = msgspec.yaml.decode(path.read_bytes())
    except (OSError, msgspec.DecodeError) as exc:
        raise BadCall(f"agent {path}: {exc}") from exc
    if not isinstance(data, dict) or not isinstance(data.get("agent"), str):
        raise BadCall(f"agent {path}: must be a mapping with `agent: NAME` and that agent's settings")
    settings = {str(name): value for name, value in data.items() if name != "agent"}
    return Player(name=data["agent"], settings=settings)


def agent_label(spec: AgentSpec) -> str:
    """What tables call an agent: its name, and its model where it has one."""
    model = spec.describe.get("model")
    label = f"{spec.name}:{model}" if isinstance(model, str) and model else spec.name
    return label[:LONGEST_LABEL]


def agent_data(spec: AgentSpec, envs: Mapping[str, str]) -> dict[str, Any]:
    """All that makes two agents the same one on a suite: the description, and the prompt for each `{label: env}`."""
    if spec.prompt is None:
        return dict(spec.describe)
    return {**spec.describe, "prompts": {label: dict(spec.prompt(get_spec(env))) for label, env in envs.items()}}
