"""Where an item stands here: the same task, original data that is missing, or an id that means nothing elsewhere."""

from __future__ import annotations

import importlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from agentenv.data.agentgym.kinds import Kind, kind_of, kinds
from agentenv.errors import AgentEnvError, BadCall, EnvUnavailable, UnknownTask
from agentenv.protocol import TaskRef
from agentenv.registry import TaskAt, TaskSet, find_task, get_spec

_NUMBER = re.compile(r"0|[1-9][0-9]{0,8}")


class Status(StrEnum):
    """What an item comes to."""

    OK = "ok"
    NEEDS = "needs original data"
    NOT_PORTABLE = "id not portable"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """An item's place."""

    kind: Kind | None
    status: Status
    why: str = ""
    """Which data, or why not; empty for `ok`."""
    task: TaskRef | None = None
    """The same task here."""
    stand_in: TaskRef | None = None
    """A task of the same sort here, where the item's own is missing."""
    options: Mapping[str, Any] = field(default_factory=dict)
    tasks_digest: str = ""
    """Of the tasks that `task` is one of."""

    def __str__(self) -> str:
        return f"{self.status} ({self.why})" if self.why else str(self.status)


class Places:
    """Finds the place of items; opens each environment's tasks once."""

    def __init__(self, given: Mapping[str, Mapping[str, Any]] | None = None) -> None:
        """`given`: options of environments by the name of the kind, such as where the user's copy of its data lies."""
        self._given = given or {}
        for name, options in self._given.items():
            kind = next((kind for kind in kinds() if kind.name == name), None)
            if kind is None or set(options) - {*kind.asks, *kind.takes}:
                known = ", ".join(f"{k.name}.{option}" for k in kinds() for option in (*k.asks, *k.takes))
                raise BadCall(f"--env-option {name}.{next(iter(options))}: an import takes {known}")
        self._known: dict[str, TaskSet | str] = {}
        self._digests: dict[str, str] = {}  # made once: it may take every task

    def of(self, item_id: str) -> Place:
        """The place of an item."""
        found = kind_of(item_id)
        if found is None:
            return Place(kind=None, status=Status.NOT_PORTABLE, why="no prefix that is known")
        kind, rest = found
        if kind.why:
            return Place(kind=kind, status=Status.NOT_PORTABLE, why=kind.why)
        if kind.needs and (not kind.asks or set(kind.asks) - set(self._given.get(kind.name, {}))):
            return Place(kind=kind, status=Status.NEEDS, why=kind.needs, stand_in=_stand_in(kind, rest))
        return self._numbered(kind, rest)

    def options(self, kind: Kind) -> dict[str, Any]:
        """Under which the kind's tasks are the same."""
        return {**kind.options, **self._given.get(kind.name, {})}

    def _numbered(self, kind: Kind, rest: str) -> Place:
        last = max(end for _, end, _ in kind.ranges)
        if not _NUMBER.fullmatch(rest):
            return Place(kind=kind, status=Status.NOT_PORTABLE, why=f"no number of {kind.name}")
        number = int(rest)
        split, index = next(((s, number - a) for a, b, s in kind.ranges if a <= number <= b), ("", 0))
        if not split:
            return Place(kind=kind, status=Status.NOT_PORTABLE, why=f"numbers of {kind.name} end at {last} here")
        tasks = self._tasks(kind)
        if isinstance(tasks, str):
            return Place(kind=kind, status=Status.NEEDS, why=tasks)
        try:
            task = find_task(get_spec(kind.env), tasks, TaskAt(split=split, index=index)).ref()
        except UnknownTask as exc:  # a copy of the data that is smaller than the original
            return Place(kind=kind, status=Status.NEEDS, why=exc.message)
        return Place(
            kind=kind,
            status=Status.OK,
            task=task,
            options=self.options(kind),
            tasks_digest=self._digests[kind.name],
        )

    def _tasks(self, kind: Kind) -> TaskSet | str:
        """The kind's tasks, or why they are not here."""
        if kind.name not in self._known:
            try:
                tasks = get_spec(kind.env).task_set(self.options(kind))
                self._known[kind.name], self._digests[kind.name] = tasks, tasks.digest
            except EnvUnavailable as exc:
                self._known[kind.name] = exc.message
        return self._known[kind.name]


def _stand_in(kind: Kind, rest: str) -> TaskRef | None:
    """The task that the environment itself names for the item."""
    if not kind.stands_in or _NUMBER.fullmatch(rest):
        return None  # a number alone says nothing of the task
    try:
        spec = get_spec(kind.env)
        reference = importlib.import_module(f"{spec.tasks.partition(':')[0].rpartition('.')[0]}.reference")
        split, index = reference.place_of(rest)
        return find_task(spec, spec.task_set(), TaskAt(split=split, index=index)).ref()
    except (AgentEnvError, ImportError):
        return None
