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

import msgspec
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
            "names": dict(info={"name": np.str_("Ada"), 7: np.bool_(True)}),
            "text": dict(observation=3),
            "picture": dict(image="png"),
            "info none": dict(info=None),
            "score nan": dict(score=float("nan")),
            "end": dict(terminated=True, success=False),
        }
        if action.text == "nothing":
            return None  # type: ignore[return-value]
        return StepResult(**{"observation": f"did {action.text}", **answers.get(action.text, {})})

    def finish(self, reason: Outcome) -> StepResult | None:
        if self.steps < 2:
            return None
        return StepResult(observation="scored", reward=0.25, success=True, score=7.0, info={"why": reason.value})


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


class Numbers(Env):
    """Shows 100 * episode + step and pays the step's number. It ends after two steps when its first task was even.

    Its other episodes run until the session's limit of three steps.
    """

    episode = -1

    def reset(self, task: Task) -> StepResult:
        if self.episode < 0:
            self.ends = task.index % 2 == 0
        self.episode, self.count = self.episode + 1, 0
        return StepResult(observation=str(100 * self.episode))

    def step(self, action: Action) -> StepResult:
        self.count += 1
        done = self.ends and self.count == 2
        text = str(100 * self.episode + self.count)
        return StepResult(observation=text, reward=float(self.count), terminated=done, success=True if done else None)


TEXTS = ("two\nlines\t\r\n", "Čeština, naïve, 漢字, 🙂", "", "x" * 200_000)
"""Observations that are in no list of allowed characters."""


class Texts(Env):
    """Shows the odd text that its task names, and then what it is told."""

    def reset(self, task: Task) -> StepResult:
        return StepResult(observation=TEXTS[task.index % len(TEXTS)])

    def step(self, action: Action) -> StepResult:
        return StepResult(observation=action.text)


PNG = b"\x89PNG\r\n\x1a\n a picture"


class Fragile(Env):
    """Breaks where it is told to: tasks 13 and up in `reset`, the rest by their action."""

    def reset(self, task: Task) -> StepResult:
        if task.index >= 13:
            raise RuntimeError("no world")
        self.told = ""
        return StepResult(observation=f"task {task.index}", image=PNG, info={"n": task.index})

    def step(self, action: Action) -> StepResult:
        self.told = action.text
        match action.text.split():
            case ["break"]:
                raise RuntimeError("it broke")
            case ["win"]:
                return StepResult(observation="won", reward=1.0, terminated=True, success=True, score=3.0)
            case ["note", note]:
                return StepResult(observation="noted", info={"note": msgspec.json.decode(note)})
        return StepResult(observation=f"did {action.text}", image=PNG)

    def available_actions(self) -> list[str] | None:
        if self.told == "blind":
            raise RuntimeError("it sees nothing")
        return ["win", "blind"]

    def finish(self, reason: Outcome) -> StepResult | None:
        if self.told == "unscorable":
            raise RuntimeError("no score")
        return None


class Painter(Env):
    """Draws where it is asked to."""

    def reset(self, task: Task) -> StepResult:
        return StepResult(observation="a canvas", image=PNG if self.images else None)

    def step(self, action: Action) -> StepResult:
        return StepResult(observation=action.text, image=PNG if self.images else None)


class AsyncPainter(AsyncEnv):
    """The same."""

    async def reset(self, task: Task) -> StepResult:
        return StepResult(observation="a canvas", image=PNG if self.images else None)

    async def step(self, action: Action) -> StepResult:
        return StepResult(observation=action.text, image=PNG if self.images else None)


class Once(Counter):
    """Serves one episode and no second one."""

    used = False

    def reset(self, task: Task) -> StepResult:
        if self.used:
            raise RuntimeError("used twice")
        self.used = True
        return super().reset(task)


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
        spec("toy_numbers", "toy_envs:Numbers", Concurrency.INLINE, max_steps=3, reward_range=(0.0, 3.0)),
        spec("toy_texts", "toy_envs:Texts", Concurrency.INLINE, solvable=False),
        spec("toy_fragile", "toy_envs:Fragile", Concurrency.INLINE, solvable=False, images=True),
        spec("toy_once", "toy_envs:Once", Concurrency.ANY_THREAD, options=OPTIONS, reuse=False),
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
