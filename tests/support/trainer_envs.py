"""Environments that a random byte model can win by chance, for tests of the training loop.

An action that holds a character outside of ASCII pays: for a model over bytes that is a fair coin at the start.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Mapping
from typing import Any

from toy_envs import spec, tasks_of

from agentenv import registry
from agentenv.env import Env
from agentenv.protocol import Action, StepResult, Task
from agentenv.registry import Concurrency, Option, TableTasks


class Coin(Env):
    """Pays each action with a character outside of ASCII; success is that the last one had it."""

    def __init__(self, *, turns: int = 1, break_every: int = 0) -> None:
        self.turns, self.break_every = turns, break_every

    def reset(self, task: Task) -> StepResult:
        self.task, self.count = task, 0
        return StepResult(observation=f"{task.index % 3}")

    def step(self, action: Action) -> StepResult:
        self.count += 1
        if self.break_every and self.task.index % self.break_every == 0:
            raise RuntimeError("the coin rolled under the table")
        paid = pays(action.text)
        done = self.count == self.turns
        return StepResult(
            observation=f"{self.count}",
            reward=paid / self.turns,
            terminated=done,
            success=bool(paid) if done else None,
            score=10.0 * paid,
        )


class SlowStart(Coin):
    """A coin whose making and whose resets take their time."""

    PAUSE_S = 0.15

    def __init__(self) -> None:
        time.sleep(self.PAUSE_S)
        super().__init__()

    def reset(self, task: Task) -> StepResult:
        time.sleep(self.PAUSE_S)
        return super().reset(task)


def pays(text: str) -> float:
    """1 for an action with a character outside of ASCII."""
    return float(any(ord(char) > 127 for char in text))


def coin_tasks(options: Mapping[str, Any]) -> TableTasks:
    """24 train tasks, 6 dev tasks."""
    made = tasks_of("coin", 24)
    dev = [Task(id=f"coin/dev/{i}", env="coin", split="dev", index=i, seed=1000 + i, category="even") for i in range(6)]
    return TableTasks(tables={**made.tables, "dev": dev}, version="1")


def slow_tasks(options: Mapping[str, Any]) -> TableTasks:
    """Eight of them."""
    return tasks_of("slow_start", 8)


COIN = spec(
    "coin",
    "trainer_envs:Coin",
    Concurrency.INLINE,
    tasks="trainer_envs:coin_tasks",
    max_steps=4,
    options=(
        Option(name="turns", type=int, default=1, help="turns of a whole episode", low=1),
        Option(name="break_every", type=int, default=0, help="tasks that break, by index; 0: none", low=0),
    ),
)


SLOW_START = spec("slow_start", "trainer_envs:SlowStart", Concurrency.ANY_THREAD, tasks="trainer_envs:slow_tasks")


@contextlib.contextmanager
def coins() -> Iterator[None]:
    """The coins are registered inside."""
    for made in (COIN, SLOW_START):
        registry.register(made)
    try:
        yield
    finally:
        for made in (COIN, SLOW_START):
            registry._registered.pop(made.id, None)
