"""Tasks as the rows that trainers of the verl family read: one flat record a task, its prompt as messages.

An env may say more of its tasks by a function `training_row(task)` beside its task factory. It returns a mapping with
any of `data_source`, `ability`, `ground_truth` (a JSON value, of one form in all tasks) and `extra_info`.
"""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from agentenv.agents.prompts import opening_of
from agentenv.protocol import Task
from agentenv.registry import EnvSpec, TaskAt, find_task

Row = dict[str, Any]
BATCH = 200
"""Tasks that are begun before their rows are handed on."""
SESSIONS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which rows to make."""

    spec: EnvSpec
    options: Mapping[str, Any]
    split: str
    limit: int | None = None
    data_source: str | None = None
    """None: the env's own."""
    observation: bool = True
    """Whether the prompt ends with the first observation; without it, no engine is needed."""

    def count(self) -> int:
        """Rows that there will be; UnknownTask for an unknown split."""
        tasks = self.spec.task_set(self.options)
        find_task(self.spec, tasks, TaskAt(split=self.split, index=0))
        total = tasks.count(self.split)
        return total if self.limit is None else min(total, self.limit)


def rows_of(wanted: Wanted) -> Iterator[Row]:
    """The rows in the order of the tasks. Also works where an event loop runs, as in a notebook."""
    from agentenv.client.portal import portal

    tasks, count = wanted.spec.task_set(wanted.options), wanted.count()
    opening = opening_of(wanted.spec).prompt.messages
    told = _told_by(wanted.spec)
    for start in range(0, count, BATCH):
        batch = [tasks.get(wanted.split, index) for index in range(start, min(start + BATCH, count))]
        shown = portal().run(_observations(wanted, batch)) if wanted.observation else [None] * len(batch)
        for task, observation in zip(batch, shown, strict=True):
            prompt = [*opening, *([] if observation is None else [{"role": "user", "content": observation}])]
            yield _row(wanted, task, prompt, told(task))


def _row(wanted: Wanted, task: Task, prompt: list[dict[str, str]], more: Mapping[str, Any]) -> Row:
    spec, ref = wanted.spec, task.ref()
    truth = more.get("ground_truth")
    return {
        "data_source": wanted.data_source or more.get("data_source") or f"agentenv/{spec.id}",
        "prompt": prompt,
        "ability": more.get("ability") or spec.id,
        # Without an answer that a rule could compare, the environment itself is the judge, of this task.
        "reward_model": {
            "style": "env" if truth is None else "rule",
            "ground_truth": task.id if truth is None else truth,
        },
        "extra_info": {
            "split": task.split,
            "index": task.index,
            "item_id": f"{spec.id}_{task.index}",
            "task": task.id,
            "env": spec.id,
            "env_version": spec.version,
            "category": ref.category,
            "difficulty": ref.difficulty,
            "template": ref.template,
            "digest": ref.digest,
            **more.get("extra_info", {}),
        },
    }


def _told_by(spec: EnvSpec) -> Callable[[Task], Mapping[str, Any]]:
    module = importlib.import_module(spec.tasks.partition(":")[0])
    found: Callable[[Task], Mapping[str, Any]] = getattr(module, "training_row", lambda task: {})
    return found


async def _observations(wanted: Wanted, tasks: list[Task]) -> list[str]:
    """The first observation of each task, as a session shows it."""
    from agentenv.pool import EnvPool

    async with EnvPool(wanted.spec.id, size=SESSIONS, options=wanted.options) as pool:

        async def begun(task: Task) -> str:
            async with pool.session(TaskAt(split=task.split, index=task.index)) as session:
                return session.observation

        return list(await asyncio.gather(*map(begun, tasks)))
