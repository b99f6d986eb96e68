"""The web environment's shortcut agents: controls that read no more than an agent does, and should hardly ever win."""

from __future__ import annotations

from collections.abc import Callable

from agentenv.agents.base import Move, Seat
from agentenv.protocol import Action
from envservers.webarena.tasks import controls
from envservers.webarena.tasks.controls import Acting


class Player:
    """Plays what a control yields; makes it anew for each episode."""

    def __init__(self, make: Callable[[Seat], Callable[[str], Acting]]) -> None:
        self._make = make
        self._acting: Acting | None = None

    async def start(self, seat: Seat) -> None:
        """Take note of the episode."""
        self._acting, self._begin = None, self._make(seat)

    async def act(self, observation: str) -> Move:
        """The control's next action."""
        if self._acting is None:
            self._acting = self._begin(observation)
            return Move(action=Action(text=next(self._acting)))
        return Move(action=Action(text=self._acting.send(observation)))


def stop_at_once() -> Player:
    """Stops before it has done anything."""
    return Player(lambda seat: controls.stop_at_once)


def not_available() -> Player:
    """Says of every task that it cannot be done."""
    return Player(lambda seat: controls.not_available)


def start_page() -> Player:
    """Answers from the start page."""
    return Player(lambda seat: controls.start_page)


def random_walk() -> Player:
    """Walks by chance."""
    return Player(lambda seat: controls.random_walk(seat.rng))


def nearest_words() -> Player:
    """Follows the words of the objective by one click."""
    return Player(lambda seat: controls.nearest_words)
