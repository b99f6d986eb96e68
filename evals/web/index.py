"""The episodes of a run by their few facts, in memory: every count, filter and page is made from them.

Episodes are never changed, so an index is brought up to date by reading those that were written since. A run whose
attempts were opened again, or whose episodes are gone, is read anew.
"""

from __future__ import annotations

import threading
from bisect import bisect_right, insort
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any, NamedTuple

from sqlalchemy import Connection

from evals.web import queries, tags

SUPERSEDED = "superseded"
"""In place of the outcome of a try that no longer counts, because its attempt was opened again."""

KEPT = 400_000
"""Episodes in memory, of all runs together; a run that has more of them stays alone."""


class Planned(NamedTuple):
    """A task of the plan."""

    position: int
    env: str
    task: str
    category: str
    difficulty: int


class Try(NamedTuple):
    """An episode."""

    id: int
    slot: int
    try_: int
    outcome: str
    valid: bool
    success: bool
    superseded: bool
    steps: int
    malformed: int
    reward: float


class Group(NamedTuple):
    """What a cell of the matrix counts."""

    env: str
    category: str
    outcome: str


_place: Callable[[Try], tuple[int, int]] = itemgetter(1, 2)  # slot and try, faster than a function of ours


@dataclass(slots=True, kw_only=True)
class RunIndex:
    """One run."""

    run: str
    state: tuple[Any, ...]
    tasks: dict[int, Planned]
    slots: dict[int, tuple[int, int]]
    """`(position, attempt)` by slot."""
    by_position: dict[int, list[int]]
    """Slots of a task, by attempt."""
    limits: dict[str, int]
    """Step limit by env."""
    last: int = 0
    """The newest episode's id."""
    tries: list[Try] = field(default_factory=list)
    """By slot and try."""
    groups: dict[Group, list[Try]] = field(default_factory=dict)
    """The same, apart by env, category and outcome."""
    successes: Counter[Group] = field(default_factory=Counter)
    """Of each group."""
    turn_tags: dict[int, frozenset[str]] = field(default_factory=dict)
    """By episode, as far as its turns have been read."""

    def task(self, entry: Try) -> Planned:
        """What was played."""
        return self.tasks[self.slots[entry.slot][0]]

    def row_tags(self, entry: Try) -> set[str]:
        """The tags that need no turns."""
        return tags.of_row(
            outcome=entry.outcome, valid=entry.valid, success=entry.success, steps=entry.steps,
            malformed=entry.malformed, max_steps=self.limits.get(self.task(entry).env, 0),
        )  # fmt: skip

    def chosen(self, *, env: str = "", category: str | None = None, outcome: str = "") -> Sequence[Try]:
        """The episodes with these facts, in order; an empty text, or None for the category, stands for any."""
        if not env and category is None and not outcome:
            return self.tries
        lists = [
            entries
            for group, entries in self.groups.items()
            if (not env or group.env == env)
            and (category is None or group.category == category)
            and (not outcome or group.outcome == outcome)
        ]
        return lists[0] if len(lists) == 1 else sorted((entry for part in lists for entry in part), key=_place)

    def of_task(self, position: int) -> list[Try]:
        """Every try at a task, by attempt and try."""
        found = []
        for slot in self.by_position.get(position, ()):
            at = behind(self.tries, (slot, -1))
            while at < len(self.tries) and self.tries[at].slot == slot:
                found.append(self.tries[at])
                at += 1
        return found

    def add(self, entries: list[Try]) -> None:
        """Take in further episodes."""
        self.last = max([self.last, *(entry.id for entry in entries)])
        if len(entries) * 20 < len(self.tries):
            for entry in entries:
                insort(self.tries, entry, key=_place)
                self._group(entry, insort)
            return
        self.tries = sorted([*self.tries, *entries], key=_place)
        self.groups, self.successes = {}, Counter()
        for entry in self.tries:
            self._group(entry, None)

    def _group(self, entry: Try, put: Callable[..., None] | None) -> None:
        """Add to its group: at the end, or in its place by `put`."""
        task = self.tasks[self.slots[entry.slot][0]]
        group = Group(task.env, task.category, SUPERSEDED if entry.superseded else entry.outcome)
        entries = self.groups.setdefault(group, [])
        self.successes[group] += entry.success
        if put is None:
            entries.append(entry)
        else:
            put(entries, entry, key=_place)


def behind(entries: Sequence[Try], place: tuple[int, int]) -> int:
    """Where in the list the first episode behind a place is."""
    return bisect_right(entries, place, key=_place)


class Indexes:
    """Those of the runs that were looked at last; threads share it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, RunIndex] = OrderedDict()

    def of(self, connection: Connection, run: str, limits: dict[str, int]) -> RunIndex:
        """The index of a run as it is now."""
        with self._lock:
            index = self._kept.pop(run, None)
            state = queries.state(connection, run)
            if index is None or not _brought_up(connection, index, state):
                index = _read(connection, run, state, limits)
            self._kept[run] = index
            while len(self._kept) > 1 and sum(len(kept.tries) for kept in self._kept.values()) > KEPT:
                self._kept.popitem(last=False)
            return index


def _read(connection: Connection, run: str, state: tuple[Any, ...], limits: dict[str, int]) -> RunIndex:
    tasks, slots = queries.plan(connection, run)
    by_position: dict[int, list[int]] = defaultdict(list)
    for slot, position, _ in slots:
        by_position[position].append(slot)
    index = RunIndex(
        run=run,
        state=state,
        tasks={task[0]: Planned(*task) for task in tasks},
        slots={slot: (position, attempt) for slot, position, attempt in slots},
        by_position=by_position,
        limits=limits,
    )
    index.add([Try._make(row) for row in queries.tries(connection, run)])
    return index


def _brought_up(connection: Connection, index: RunIndex, state: tuple[Any, ...]) -> bool:
    """Add what was written since; False when it must be read anew."""
    if state[1:] != index.state[1:]:
        return False
    if index.state[0] >= state[0]:  # more, where another thread looked a moment later than this one
        return True
    fresh = queries.tries(connection, index.run, after=index.last)
    if len(index.tries) + len(fresh) != state[0]:  # one with a lower id was committed later
        return False
    index.add([Try._make(row) for row in fresh])
    index.state = state
    return True
