"""Agents that play a script, for tests of rollouts."""

import asyncio
from collections.abc import Callable

from agentenv.agents import AgentSpec, Move, Seat
from agentenv.protocol import Action

Item = str | Action | BaseException


class Player:
    """Plays one episode."""

    def __init__(self, script: "Scripted") -> None:
        self.script, self.moves = script, 0

    async def start(self, seat: Seat) -> None:
        self.seat = seat

    async def act(self, observation: str) -> Move:
        item = self.script.items[min(self.moves, len(self.script.items) - 1)]
        self.moves += 1
        self.script.calls += 1
        await asyncio.sleep(self.script.think_s(self.seat))
        if isinstance(item, BaseException):
            raise item
        return Move(action=Action(text=item) if isinstance(item, str) else item)


class Scripted:
    """Sends its items one after the other, the last one for ever; an exception among them is raised.

    `think_s` is how long it thinks before each move, in seconds, or a function of the seat that tells it.
    """

    def __init__(self, *items: Item, think_s: Callable[[Seat], float] | float = 0.0) -> None:
        self.items, self.calls = items, 0
        self.think_s: Callable[[Seat], float] = think_s if callable(think_s) else lambda seat: think_s
        self.spec = AgentSpec(name="scripted", describe={"name": "scripted"}, make=lambda: Player(self))
