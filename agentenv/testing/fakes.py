"""Test doubles for the outer edge: time, models and players."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from agentenv.agents.base import AgentSpec, Move, Seat
from agentenv.errors import EpisodeCut
from agentenv.policy import Completion, Message
from agentenv.protocol import Action, Outcome


class FakeClock:
    """A clock that stands still until it is moved: `Sessions(clock=FakeClock())`."""

    def __init__(self, now_s: float = 0.0) -> None:
        self.now_s = now_s

    def __call__(self) -> float:
        """The time in seconds."""
        return self.now_s

    def advance(self, seconds: float) -> None:
        """Let time go by; it never runs backwards."""
        if seconds < 0:
            raise ValueError(f"a clock cannot go back {-seconds:g} s")
        self.now_s += seconds

    async def sleep(self, seconds: float) -> None:
        """What stands in for `asyncio.sleep`: the time goes by at once."""
        self.advance(max(0.0, seconds))


class ScriptedPolicy:
    """A `Policy` that answers from a script and keeps what it was asked.

    An item is the text of a completion, a whole `Completion`, or an exception to raise. A script that runs out ends
    the episode as `agent_error`.
    """

    def __init__(self, script: Iterable[str | Completion | Exception]) -> None:
        self.asked: list[Sequence[Message]] = []
        self.closed = False
        self._script = list(script)

    def describe(self) -> dict[str, Any]:
        """See Policy."""
        return {"model": "scripted"}

    async def complete(self, messages: Sequence[Message], *, seed: int | None = None) -> Completion:
        """The next item of the script."""
        self.asked.append([dict(message) for message in messages])
        if len(self.asked) > len(self._script):
            raise EpisodeCut(Outcome.AGENT_ERROR, f"the script has {len(self._script)} completions")
        item = self._script[len(self.asked) - 1]
        if isinstance(item, Exception):
            raise item
        return item if isinstance(item, Completion) else Completion(text=item, finish_reason="stop")

    async def close(self) -> None:
        """See Policy."""
        self.closed = True


class ScriptedAgent:
    """An `Agent` that sends a fixed list of actions; it ends the episode as `agent_error` after the last one."""

    def __init__(self, actions: Iterable[str | Action]) -> None:
        self.seen: list[str] = []
        self.seat: Seat | None = None
        self._actions = [a if isinstance(a, Action) else Action(text=a) for a in actions]

    async def start(self, seat: Seat) -> None:
        """See Agent."""
        self.seat = seat

    async def act(self, observation: str) -> Move:
        """The next action."""
        self.seen.append(observation)
        if len(self.seen) > len(self._actions):
            raise EpisodeCut(Outcome.AGENT_ERROR, f"the script has {len(self._actions)} actions")
        return Move(action=self._actions[len(self.seen) - 1])

    @classmethod
    def spec(cls, actions: Iterable[str | Action], name: str = "scripted") -> AgentSpec:
        """A kind of agent whose every episode plays these actions."""
        kept = list(actions)
        return AgentSpec(name=name, describe={"name": name}, make=lambda: cls(kept))
