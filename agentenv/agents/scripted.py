"""Controls that need no model: the scripted solution, chance, and doing nothing."""

from __future__ import annotations

from collections.abc import Callable

from agentenv.agents.base import Agent, AgentSpec, Move, Seat
from agentenv.errors import BadAgent, EpisodeCut
from agentenv.protocol import Action, Outcome

VERSION = "1"
"""Of the three; changes when one of them would play an equal episode differently."""

NOOP_TEXT = "noop"
"""No environment of ours knows it as an action, so it is answered by an observation and changes nothing."""


class _Seated:
    """Keeps the seat; all that these agents remember of an episode."""

    seat: Seat

    async def start(self, seat: Seat) -> None:
        """Take note of the episode."""
        self.seat = seat


class Oracle(_Seated):
    """Plays the env's own scripted solution. A reference, not a competitor."""

    async def act(self, observation: str) -> Move:
        """The solution's next action."""
        return Move(action=await self.seat.view.oracle())


class Random(_Seated):
    """Draws uniformly from the actions that make sense now."""

    async def act(self, observation: str) -> Move:
        """One of the available actions; BadAgent where they have no bound."""
        choices = await self.seat.view.available_actions()
        if choices is None:
            raise BadAgent(
                f"random needs a list of available actions; {self.seat.spec.id}'s actions have no bound. "
                f"Use noop or oracle as a control"
            )
        if not choices:
            raise EpisodeCut(Outcome.AGENT_ERROR, f"{self.seat.spec.id} offers no action to choose from")
        return Move(action=Action(text=self.seat.rng.choice(choices)), notes={"choices": len(choices)})


class Noop(_Seated):
    """Sends one fixed text that changes nothing. What it scores, any agent gets for free."""

    async def act(self, observation: str) -> Move:
        """The same text every time."""
        return Move(action=Action(text=NOOP_TEXT))


def oracle() -> AgentSpec:
    """The agent `oracle`."""
    return _spec("oracle", Oracle, needs_oracle=True)


def random() -> AgentSpec:
    """The agent `random`."""
    return _spec("random", Random, needs_actions=True)


def noop() -> AgentSpec:
    """The agent `noop`."""
    return _spec("noop", Noop)


def _spec(
    name: str, make: Callable[[], Agent], *, needs_oracle: bool = False, needs_actions: bool = False
) -> AgentSpec:
    return AgentSpec(
        name=name,
        describe={"name": name, "version": VERSION},
        make=make,
        needs_oracle=needs_oracle,
        needs_actions=needs_actions,
    )
