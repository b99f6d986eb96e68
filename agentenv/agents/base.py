"""What plays: an `Agent` sees observations and answers with moves. One object plays one episode."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from agentenv.policy import Completion
from agentenv.protocol import Action, Outcome, TaskRef
from agentenv.registry import EnvSpec

if TYPE_CHECKING:
    from agentenv.endpoint.spent import Spent


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """One action, with what it was made from (for the record)."""

    action: Action
    completion: Completion | None = None
    messages: list[dict[str, Any]] | None = None
    """What this turn added to the conversation, the model's reply last."""
    notes: Mapping[str, Any] = field(default_factory=dict)
    """Goes into the turn's `info["agent"]`."""


class EpisodeView(Protocol):
    """What an agent may ask of the episode that it plays."""

    async def available_actions(self) -> list[str] | None:
        """The actions that make sense now; None where they have no bound."""

    async def oracle(self) -> Action:
        """The scripted solution's next action; only where the server allows it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seat:
    """What an agent is told when it sits down to play."""

    spec: EnvSpec
    task: TaskRef
    view: EpisodeView
    max_steps: int
    rng: random.Random
    """The agent's only source of chance, seeded from the task and the attempt."""


class Agent(Protocol):
    """Plays one episode. An agent with something to free or to tell at the end has `end` too; see `Ends`."""

    async def start(self, seat: Seat) -> None:
        """Take note of the episode; called once, before the first `act`."""

    async def act(self, observation: str) -> Move:
        """Answer the latest observation; EpisodeCut ends the episode."""


@runtime_checkable
class Ends(Protocol):
    """An agent that is told when its episode is over, however it ended."""

    async def end(self, outcome: Outcome | None, success: bool) -> None:
        """Called once, after the last `act`, also when the episode was cancelled (`outcome` is then None)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSpec:
    """A kind of agent: how it describes itself, and how one for one episode is made."""

    name: str
    describe: Mapping[str, Any]
    """Everything that makes two agents the same one in any env: version, format, model, sampling, limits."""
    make: Callable[[], Agent]
    needs_oracle: bool = False
    needs_actions: bool = False
    preflight: Callable[[], Awaitable[str]] | None = None
    """One small call before a run's plan is written: what the model replied; BadCall or InfraError name the cause."""
    close: Callable[[], Awaitable[None]] | None = None
    """Frees what the agents of this kind share (connections); awaited once, when the run is over."""
    spent: Callable[[], Spent] | None = None
    """What all episodes of this kind have used so far, where a model is asked; for limits over a whole run."""
    prompt: Callable[[EnvSpec], Mapping[str, str]] | None = None
    """What identifies the words that it opens an episode of this env with: source, version, digest."""

    def described_in(self, spec: EnvSpec) -> dict[str, Any]:
        """The whole description of the agent as it plays this env, for records."""
        return dict(self.describe) if self.prompt is None else {**self.describe, "prompt": dict(self.prompt(spec))}
