"""Which tasks a step plays: each environment's own order, drawn from by weight. All a pure function of what was drawn.

A resumed run goes on with the next task: the cursor's state is a few counts.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentenv.protocol import TaskRef, digest_of
from trainers.algorithms.apportion import apportion
from trainers.settings import BadSetting


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """A task of a step; its group is its number there."""

    env: int
    """Index into `environments`."""
    task: TaskRef
    group: int


class TaskOrder:
    """The endless order of one environment's tasks: every task once an epoch, each epoch in an order of its own."""

    def __init__(self, tasks: Sequence[TaskRef], *, seed: int, shuffle: bool) -> None:
        self.tasks = list(tasks)
        if not self.tasks:
            raise BadSetting("environments[].split: there is no task in it")
        self.digest = digest_of([task.digest for task in self.tasks])
        """Of the tasks in the order that they were given in."""
        self._seed, self._shuffle = seed, shuffle
        self._epoch = -1
        self._order: list[int] = []

    def at(self, position: int) -> TaskRef:
        """The task at `position`, counted from 0 over all epochs."""
        epoch, index = divmod(position, len(self.tasks))
        if epoch != self._epoch:
            self._epoch, self._order = epoch, list(range(len(self.tasks)))
            if self._shuffle:
                random.Random(digest_of([self._seed, self.tasks[0].env, epoch])).shuffle(self._order)
        return self.tasks[self._order[index]]


class TaskCursor:
    """Draws the tasks of one step after the other."""

    def __init__(self, orders: Sequence[TaskOrder], weights: Sequence[float]) -> None:
        self._orders, self._weights = list(orders), list(weights)
        self.positions = [0] * len(self._orders)
        self.carry = [0.0] * len(self._orders)

    def draw(self, count: int) -> list[Slot]:
        """The tasks of the next step."""
        shares, self.carry = apportion(count, self._weights, self.carry)
        slots: list[Slot] = []
        for env, share in enumerate(shares):
            for _ in range(share):
                task = self._orders[env].at(self.positions[env])
                slots.append(Slot(env=env, task=task, group=len(slots)))
                self.positions[env] += 1
        return slots

    def drawn(self) -> frozenset[str]:
        """Digests of all tasks that were ever drawn."""
        found: set[str] = set()
        for order, position in zip(self._orders, self.positions, strict=True):
            whole = position >= len(order.tasks)
            found |= {t.digest for t in (order.tasks if whole else (order.at(i) for i in range(position)))}
        return frozenset(found)

    def state(self) -> dict[str, Any]:
        """What a checkpoint stores."""
        return {
            "positions": list(self.positions),
            "carry": list(self.carry),
            "tasks": [order.digest for order in self._orders],
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from there; BadSetting when the tasks are others now."""
        if len(state["positions"]) != len(self._orders):
            raise BadSetting(
                f"environments: the checkpoint has {len(state['positions'])} of them, the settings {len(self._orders)}"
            )
        for number, (order, digest) in enumerate(zip(self._orders, state["tasks"], strict=True)):
            if order.digest != digest:
                raise BadSetting(
                    f"environments[{number}]: its tasks are not those of the checkpoint; the run cannot go on where it "
                    "was (another version of the environment, or another file of tasks?)"
                )
        self.positions, self.carry = list(state["positions"]), list(state["carry"])


def chosen(tasks: Sequence[TaskRef], file: str | None) -> list[TaskRef]:
    """All tasks, or those whose ids a file lists, in the file's order; BadSetting names an id that is not there."""
    if file is None:
        return list(tasks)
    by_id = {t.id: t for t in tasks}
    try:
        wanted = [line.strip() for line in Path(file).read_text(encoding="utf-8").splitlines() if line.strip()]
    except OSError as exc:
        raise BadSetting(f"environments[].tasks: cannot read {file}: {exc.strerror}") from exc
    missing = [name for name in wanted if name not in by_id]
    if missing or not wanted:
        raise BadSetting(f"environments[].tasks: {file} names {missing[0] if missing else 'no task'}, not in the split")
    return [by_id[name] for name in wanted]
