"""An agent that takes as long as a model of 50 ms would, and plays at random; for benchmarks/store.py."""

import asyncio

from agentenv.agents.base import AgentSpec, Move, Seat
from agentenv.protocol import Action

LATENCY_S = 0.05


class Slow:
    async def start(self, seat: Seat) -> None:
        self.seat = seat

    async def act(self, observation: str) -> Move:
        await asyncio.sleep(LATENCY_S)
        return Move(action=Action(text=self.seat.rng.choice(["move up", "move down", "move left", "move right"])))


def slow() -> AgentSpec:
    return AgentSpec(name="slow", describe={"name": "slow", "version": "1"}, make=Slow)
