"""Agents that do not play: what they reach is what a mission gives away for nothing."""

from __future__ import annotations

import re

from agentenv.agents.base import Move, Seat
from agentenv.protocol import Action

LOOKING = ("turn left", "turn right", "move forward", "go through", "toggle and go through")
"""What actions begin with that only bring one elsewhere."""
EMPTY_WORDS = frozenset(["a", "the", "to", "on", "of", "in", "you", "your", "and", "then", "after", "next"])

_WORD = re.compile(r"[a-z]+")
_GOAL = re.compile(r"Your goal: (.*)")


class Spin:
    """Turns left for ever, so that whatever stands next to it comes into its sight."""

    async def start(self, seat: Seat) -> None:
        """See Agent."""

    async def act(self, observation: str) -> Move:
        """The same move every time."""
        return Move(action=Action(text="turn left"))


class NearestThing:
    """Deaf to the goal: goes to the nearest thing that it has not been sent to yet, else looks elsewhere by chance."""

    async def start(self, seat: Seat) -> None:
        """See Agent."""
        self.seat = seat
        self.tried: set[str] = set()

    async def act(self, observation: str) -> Move:
        """One of the available actions."""
        choices = await self.seat.view.available_actions() or []
        for text in choices:
            if text.startswith("go to ") and text not in self.tried:
                self.tried.add(text)
                return Move(action=Action(text=text))
        return Move(action=Action(text=self.seat.rng.choice(looking(choices))))


class SharedWords:
    """Does what shares most words with the goal, two at least, whatever they mean; else looks elsewhere by chance."""

    async def start(self, seat: Seat) -> None:
        """See Agent."""
        self.seat = seat
        self.goal: frozenset[str] = frozenset()

    async def act(self, observation: str) -> Move:
        """One of the available actions."""
        if not self.goal and (told := _GOAL.match(observation)):
            self.goal = words(told[1])
        choices = await self.seat.view.available_actions() or []
        shared = {text: len(words(text) & self.goal) for text in choices}
        most = max(shared.values(), default=0)
        best = [text for text in choices if shared[text] == most] if most > 1 else looking(choices)
        return Move(action=Action(text=self.seat.rng.choice(best)))


def words(text: str) -> frozenset[str]:
    """The words that say something; `pick up` is spelled as in the actions."""
    return frozenset(_WORD.findall(text.lower().replace("pick up", "pickup"))) - EMPTY_WORDS


def looking(choices: list[str]) -> list[str]:
    """The choices that only bring one elsewhere; turns are always among them."""
    return [text for text in choices if text.startswith(LOOKING)] or ["turn left"]
