"""An environment whose answers take a time from a heavy tail: 10 ms as a rule, up to 2 s."""

import asyncio
import random

from agentenv.env import AsyncEnv
from agentenv.protocol import Action, StepResult, Task
from agentenv.registry import Concurrency, EnvSpec, TableTasks

LOW_S, HIGH_S, TAIL = 0.010, 2.0, 0.7
"""A Pareto distribution, cut at HIGH_S; the smaller TAIL, the heavier."""
TURNS = (4, 12)
TOKENS = (10, 60)
"""Of a completion."""
COUNT = 64
SEEDS = 20


class Latency(AsyncEnv):
    """An episode takes as many steps as its plan has, each as long as the plan says."""

    async def reset(self, task: Task) -> StepResult:
        self._plan = plan_of(task.payload["seed"], task.index)
        await asyncio.sleep(self._plan.waits_s[0])
        return StepResult(observation="0")

    async def step(self, action: Action) -> StepResult:
        number = self.steps + 1
        await asyncio.sleep(self._plan.waits_s[number])
        if number == len(self._plan.tokens):
            return StepResult(observation="", reward=1.0, terminated=True, success=True)
        return StepResult(observation=str(number))


class Plan:
    """What an episode waits for, whoever plays it."""

    def __init__(self, draw: random.Random) -> None:
        turns = draw.randint(*TURNS)
        self.waits_s = [wait_s(draw) for _ in range(turns + 1)]
        """Of the reset, then of each step."""
        self.tokens = [draw.randint(*TOKENS) for _ in range(turns)]

    def alone_s(self, token_s: float) -> float:
        """What the episode takes when nothing waits for anything else."""
        return sum(self.waits_s) + token_s * sum(self.tokens)


def plan_of(seed: int, index: int) -> Plan:
    return Plan(random.Random(f"{seed}/{index}"))


def wait_s(draw: random.Random) -> float:
    """One latency, by inversion of the cut distribution."""
    low, high = LOW_S**-TAIL, HIGH_S**-TAIL
    return (low - draw.random() * (low - high)) ** (-1 / TAIL)


def make_tasks(options: dict) -> TableTasks:
    def table(seed: int) -> list[Task]:
        name = f"seed{seed}"
        return [
            Task(id=f"latency/{name}/{n}", env="latency", split=name, index=n, payload={"seed": seed})
            for n in range(COUNT)
        ]

    return TableTasks(tables={f"seed{seed}": table(seed) for seed in range(SEEDS)}, version="1", options=options)


SPEC = EnvSpec(
    id="latency",
    version="1",
    gym_name="Latency-v0",
    title="Answers that take a while",
    entry="latency_env:Latency",
    tasks="latency_env:make_tasks",
    concurrency=Concurrency.ASYNC,
    max_steps=100,
    success_rule="the last step",
    action_grammar="any text",
)
