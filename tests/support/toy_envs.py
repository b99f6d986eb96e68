"""Small environments for tests of the core, one for each concurrency model, and a clock that tests move.

`Counter` counts its real `step()` calls for each task seed, outside the env objects, so that a test can tell how often
an action was really done.
"""

import asyncio
import os
import threading
import time
from collections import Counter as Counts
from collections.abc import AsyncGenerator, Generator
from dataclasses import replace
from typing import Any

import numpy as np

from agentenv.env import AsyncEnv, Env
from agentenv.protocol import Action, Outcome, StepResult, Task
from agentenv.registry import Concurrency, EnvSpec, Option, TableTasks

REAL_STEPS: Counts[int] = Counts()
"""Real step() calls by task seed."""

GOAL = 5
"""Steps to success."""


def tasks_of(env: str, count: int = 1000) -> TableTasks:
    """`count` train tasks, ten test tasks; the seed is the index (test: 100,000 and up)."""

    def table(split: str, number: int, first: int) -> list[Task]:
        return [
            Task(
                id=f"{env}/{split}/{i}",
                env=env,
                split=split,
                index=i,
                seed=first + i,
                category=("even", "odd")[i % 2],
            )
            for i in range(number)
        ]

    return TableTasks(tables={"train": table("train", count, 0), "test": table("test", 10, 100_000)}, version="1")


class Counter(Env):
    """Every action counts; after `GOAL` good ones the episode is a success. The text tells seed and count."""

    def __init__(self, *, goal: int = GOAL, pause_s: float = 0.0) -> None:
        self.goal, self.pause_s = goal, pause_s
        self.count = 0
        self.closed = 0

    def reset(self, task: Task) -> StepResult:
        self.seed, self.count = task.seed, 0
        return StepResult(observation=f"seed {self.seed} count 0")

    def step(self, action: Action) -> StepResult:
        REAL_STEPS[self.seed] += 1
        if self.pause_s:
            time.sleep(self.pause_s)
        self.count += 1
        match action.text.split():
            case ["raise"]:
                raise RuntimeError("the toy broke")
            case ["sleep", seconds]:
                time.sleep(float(seconds))
            case ["die"]:
                os._exit(3)
            case ["lose"]:
                return StepResult(observation="lost", terminated=True, success=False)
        done = self.count >= self.goal
        text = f"seed {self.seed} count {self.count} got {action.text}"
        return StepResult(observation=text, reward=float(done), terminated=done, success=True if done else None)

    def available_actions(self) -> list[str] | None:
        return ["go", "wait"]

    def solve(self, task: Task) -> Generator[Action, StepResult, None]:
        result = self.last
        while not result.terminated:
            result = yield Action(text="go")

    def close(self) -> None:
        self.closed += 1


class AsyncCounter(AsyncEnv):
    """The same, awaited."""

    def __init__(self, *, goal: int = GOAL, pause_s: float = 0.0) -> None:
        self.inner, self.pause_s = Counter(goal=goal), pause_s

    async def reset(self, task: Task) -> StepResult:
        return self.inner.reset(task)

    async def step(self, action: Action) -> StepResult:
        if action.text.startswith("sleep "):
            await asyncio.sleep(float(action.text.split()[1]))
        elif self.pause_s:
            await asyncio.sleep(self.pause_s)
        return self.inner.step(replace(action, text=action.text.replace("sleep", "slept")))

    async def available_actions(self) -> list[str] | None:
        return ["go", "wait"]

    async def solve(self, task: Task) -> AsyncGenerator[Action, StepResult]:
        result = self.last
        while not result.terminated:
            result = yield Action(text="go")


class Odd(Env):
    """Answers what its action names: numpy scalars, NaN, odd text, wrong types, a late score."""

    def reset(self, task: Task) -> StepResult:
        return StepResult(observation="odd")

    def step(self, action: Action) -> StepResult:
        answers: dict[str, Any] = {
            "float32": dict(reward=np.float32(0.5)),
            "bool": dict(terminated=np.bool_(True), success=np.bool_(True)),
            "info": dict(info={"n": np.int64(3), "a": np.arange(2)}),
            "nan": dict(reward=float("nan")),
            "inf": dict(reward=np.float32("inf")),
            "out of range": dict(reward=2.0),
            "info nan": dict(info={"x": float("nan")}),
            "info object": dict(info={"x": object()}),
            "info big": dict(info={"x": "y" * 70_000}),
            "surrogate": dict(observation="a\ud800b\x00c", info={"t": "\udfff"}),
            "long": dict(observation="é" * 700_000),
            "no success": dict(terminated=True),
            "score": dict(terminated=True, success=True, score=0.8, info={"score": 0.8}),
            "pay": dict(reward=1.0),
            "end": dict(terminated=True, success=False),
        }
        return StepResult(**{"observation": f"did {action.text}", **answers.get(action.text, {})})

    def finish(self, reason: Outcome) -> StepResult | None:
        return StepResult(observation="scored", reward=0.25, success=True, score=7.0) if self.steps > 1 else None


class Exclusive(Env):
    """Fails when two of its steps ever run at once."""

    inside = 0
    guard = threading.Lock()

    def reset(self, task: Task) -> StepResult:
        return StepResult(observation="alone")

    def step(self, action: Action) -> StepResult:
        with self.guard:
            Exclusive.inside += 1
            crowd = Exclusive.inside
        time.sleep(0.002)
        with self.guard:
            Exclusive.inside -= 1
        if crowd > 1:
            raise RuntimeError("two steps at once")
        return StepResult(observation="still alone")


def spec(id: str, entry: str, concurrency: Concurrency, **changes: Any) -> EnvSpec:
    """A toy's spec."""
    return EnvSpec(
        **{
            "id": id,
            "version": "1",
            "gym_name": f"Toy{id.title().replace('_', '')}-v0",
            "title": f"toy {id}",
            "entry": entry,
            "tasks": f"toy_envs:{id}_tasks",
            "concurrency": concurrency,
            "max_steps": 8,
            "success_rule": "five steps",
            "action_grammar": "any text",
            **changes,
        }
    )


OPTIONS = (
    Option(name="goal", type=int, default=GOAL, help="steps to success", low=1),
    Option(name="pause_s", type=float, default=0.0, help="seconds a step takes", scope="server", low=0.0),
)

SPECS = {
    s.id: s
    for s in (
        spec("toy_inline", "toy_envs:Counter", Concurrency.INLINE, options=OPTIONS),
        spec("toy_thread", "toy_envs:Counter", Concurrency.ANY_THREAD, options=OPTIONS),
        spec("toy_locked", "toy_envs:Counter", Concurrency.LOCKED, options=OPTIONS),
        spec("toy_process", "toy_envs:Counter", Concurrency.PROCESS, options=OPTIONS),
        spec("toy_async", "toy_envs:AsyncCounter", Concurrency.ASYNC, options=OPTIONS),
        spec("toy_odd", "toy_envs:Odd", Concurrency.INLINE, max_steps=3, solvable=False),
        spec("toy_exclusive", "toy_envs:Exclusive", Concurrency.LOCKED, solvable=False),
    )
}

MODELS = ("toy_inline", "toy_thread", "toy_locked", "toy_process", "toy_async")
"""One env for each concurrency model."""


def __getattr__(name: str) -> Any:
    if name.endswith("_tasks"):
        return lambda options: tasks_of(name.removesuffix("_tasks"))
    raise AttributeError(name)


class Clock:
    """A clock that stands still until a test moves it."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now

    def advance(self, seconds: float) -> None:
        """Let `seconds` pass."""
        self.now += seconds
