"""A small env and agents with every way of ending, for tests of the harness.

A task is a coin: say its side. Task options make it break, or take its time, so that a run can be stopped half-way.
"""

from __future__ import annotations

import time
from collections.abc import Generator
from typing import Any

from agentenv.agents.base import AgentSpec, Move, Seat
from agentenv.env import Env
from agentenv.errors import EpisodeCut, InfraError
from agentenv.protocol import Action, Outcome, StepResult, Task
from agentenv.registry import Concurrency, EnvSpec, Option, TableTasks

TASKS = 12


class Coin(Env):
    def __init__(self, *, breaking: str = "", pause_s: float = 0.0) -> None:
        self.breaking, self.pause_s = breaking, pause_s

    def reset(self, task: Task) -> StepResult:
        if str(task.index) in self.breaking.split():
            raise RuntimeError("the coin rolled away")
        self.side = task.payload["side"]
        return StepResult(observation="heads or tails?")

    def step(self, action: Action) -> StepResult:
        time.sleep(self.pause_s)
        if action.text not in ("heads", "tails"):
            return StepResult(observation="heads or tails?")
        hit = action.text == self.side
        return StepResult(observation=self.side, reward=float(hit), terminated=True, success=hit)

    def available_actions(self) -> list[str]:
        return ["heads", "tails"]

    def solve(self, task: Task) -> Generator[Action, StepResult, None]:
        yield Action(text=self.side)


def tasks(options: dict[str, Any]) -> TableTasks:
    table = [
        Task(
            id=f"coin/test/{i}",
            env="coin",
            split="test",
            index=i,
            category="odd" if i % 2 else "even",
            payload={"side": "tails" if i % 3 else "heads"},
        )
        for i in range(TASKS)
    ]
    return TableTasks(tables={"test": table}, version="1")


SPEC = EnvSpec(
    id="coin",
    version="1",
    gym_name="Coin-v0",
    title="Coin",
    entry="coin_env:Coin",
    tasks="coin_env:tasks",
    concurrency=Concurrency.ANY_THREAD,
    max_steps=3,
    success_rule="The side is named.",
    action_grammar="heads\ntails",
    options=(
        Option(name="breaking", type=str, default="", help="Indices of tasks whose reset raises."),
        Option(name="pause_s", type=float, default=0.0, help="Seconds that a step takes."),
    ),
    world="agentenv-coin-v1",
)


class Calls:
    """An agent that always says heads; its model's endpoint loses the first `lost` of its calls."""

    lost = 0
    made = 0
    tokens: int | None = None
    cost: float | None = None

    async def start(self, seat: Seat) -> None:
        pass

    async def act(self, observation: str) -> Move:
        Calls.made += 1
        if Calls.made <= Calls.lost:
            raise EpisodeCut(Outcome.INFRA_LOST, "the endpoint answered 503")
        told = {"latency_s": 0.0, "prompt_tokens": self.tokens, "completion_tokens": 0, "cost": self.cost}
        notes = {name: value for name, value in told.items() if value is not None}
        return Move(action=Action(text="heads"), notes={} if self.tokens is self.cost is None else notes)


PROMPT = {"source": "coin", "version": "1"}


def caller(model: str = "m1", version: str = "1") -> AgentSpec:
    """The agent `caller`."""

    async def preflight() -> str:
        if model == "nobody":
            raise InfraError("no model endpoint answers")
        return f"hello, I am {model}"

    return AgentSpec(
        name="caller",
        describe={"name": "caller", "version": version, "model": model},
        make=Calls,
        preflight=preflight,
        prompt=lambda spec: PROMPT,
    )
