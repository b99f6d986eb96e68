"""What a run will play, in which order, written down before the first episode.

The order is a seeded permutation in which every category and difficulty of every env is spread evenly: any beginning of
it is a fair sample of the whole, so a run that stopped early is an unbiased part. Every task comes once before one
comes twice. Nothing here depends on a random generator: tasks are ordered by hashes of their ids.
"""

from __future__ import annotations

import difflib
import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from agentenv.protocol import TaskRef
from agentenv.registry import EnvSpec, TaskAt, TaskSet, find_task, get_spec
from evals.suite import BadSuite, Suite, SuiteEnv

T = TypeVar("T")

MAX_TRIES = 3
"""Tries of one slot before it counts as lost."""


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """What an env was when the plan was made; scores compare only within equal worlds."""

    label: str
    env: str
    version: str
    tasks_digest: str
    split: str
    options: dict[str, Any]
    max_steps: int
    """The limit of an episode; a task's own may be smaller."""
    tasks: int
    """How many of its tasks the suite takes, limits aside."""
    world: str
    """The env's name for a world of its own, whose scores do not compare with a published benchmark's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedTask:
    """One task of a plan."""

    label: str
    """The suite's name for the env."""
    task: TaskRef


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Worlds, and tasks in the order of play. Slot `attempt * len(tasks) + position` is that task's attempt."""

    worlds: tuple[World, ...]
    tasks: tuple[PlannedTask, ...]
    attempts: int

    @property
    def slots(self) -> int:
        """Episodes that the plan asks for, repeats of invalid ones aside."""
        return len(self.tasks) * self.attempts


def make_plan(suite: Suite, *, attempts: int | None = None, limit: int | None = None) -> Plan:
    """The plan of a suite; `limit` is the most tasks of each env. Errors name the suite's entry."""
    worlds, chosen = [], []
    for entry in suite.envs:
        spec = get_spec(entry.env)
        refs = _chosen(spec, entry, suite)
        worlds.append(world_of(spec, entry))
        chosen.append([PlannedTask(label=entry.name, task=ref) for ref in refs[:limit]])
    return Plan(
        worlds=tuple(worlds),
        tasks=tuple(merged(chosen)),
        attempts=attempts or suite.attempts,
    )


def world_of(spec: EnvSpec, entry: SuiteEnv) -> World:
    """The env as it is now, under the suite's options; BadSuite when these leave open what is measured."""
    _check_settled(spec, entry)
    tasks = spec.task_set(entry.options)
    return World(
        label=entry.name,
        env=spec.id,
        version=spec.version,
        tasks_digest=tasks.digest,
        split=entry.split,
        options=dict(entry.options),
        max_steps=min(spec.max_steps, entry.max_steps or spec.max_steps),
        tasks=_count(spec, tasks, entry),
        world=spec.world,
    )


def _check_settled(spec: EnvSpec, entry: SuiteEnv) -> None:
    values = spec.resolve_options(entry.options)
    for option in spec.options:
        if values[option.name] in option.unsettled:
            settled = [str(choice) for choice in option.choices if choice not in option.unsettled]
            raise BadSuite(
                f"{entry.name}: with {option.name}={values[option.name]} the machine decides what is measured; "
                f"say {option.name}: {' or '.join(settled)} in the suite's options"
            )


def _count(spec: EnvSpec, tasks: TaskSet, entry: SuiteEnv) -> int:
    """How many tasks the entry takes."""
    match entry.tasks:
        case int(number):
            return number
        case tuple(listed):
            return len(listed)
    return len(_candidates(spec, tasks, entry)) if entry.categories else tasks.count(entry.split)


def _chosen(spec: EnvSpec, entry: SuiteEnv, suite: Suite) -> list[TaskRef]:
    """The entry's tasks in order of play."""
    tasks = spec.task_set(entry.options)
    find_task(spec, tasks, TaskAt(split=entry.split, index=0))  # UnknownTask where there is no such split
    refs = _candidates(spec, tasks, entry)
    wanted = _count(spec, tasks, entry)
    if wanted > len(refs):
        among = f" in {', '.join(entry.categories)}" if entry.categories else ""
        raise BadSuite(
            f"suite {suite.name}: {entry.name} wants {wanted} tasks; {spec.id}/{entry.split} has {len(refs)}{among}"
        )
    order = stratified(refs, seed=suite.seed, key=lambda r: r.id, by=(lambda r: r.category, lambda r: r.difficulty))
    return order[:wanted]


def _candidates(spec: EnvSpec, tasks: TaskSet, entry: SuiteEnv) -> list[TaskRef]:
    """The tasks that the entry may take, by index."""
    if isinstance(entry.tasks, tuple):
        places = [
            TaskAt(split=entry.split, index=wanted) if isinstance(wanted, int) else wanted for wanted in entry.tasks
        ]
        listed = {task.id: task.ref() for task in (find_task(spec, tasks, place) for place in places)}
        if len(listed) < len(places):
            raise BadSuite(f"{entry.name}: a task is listed twice, by its index and by its id")
        refs = list(listed.values())
    else:
        refs = [tasks.get(entry.split, index).ref() for index in range(tasks.count(entry.split))]
    if not entry.categories:
        return refs
    known = {ref.category for ref in refs}
    for name in entry.categories:
        if name not in known:
            close = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"there are: {', '.join(sorted(known))[:300]}"
            raise BadSuite(f"{entry.name}: {spec.id}/{entry.split} has no category {name!r}; {hint}")
    return [ref for ref in refs if ref.category in entry.categories]


def stratified(
    items: Iterable[T], *, seed: int, key: Callable[[T], str], by: Sequence[Callable[[T], Hashable]]
) -> list[T]:
    """A seeded order in which every beginning holds each value of each property in proportion, give or take an item.

    Items that agree in all properties form a cell, ordered by hash. The next item always comes from the cell whose
    properties lag furthest behind their share; a shift of each cell's own, in [0, 1), decides who begins.
    """
    cells: dict[tuple[Hashable, ...], list[T]] = defaultdict(list)
    for item in items:
        cells[tuple(p(item) for p in by)].append(item)
    total = sum(map(len, cells.values()))
    shares: Counter[Hashable] = Counter()
    for cell, members in cells.items():
        members.sort(key=lambda item: _hash(seed, key(item)), reverse=True)
        shares.update({mark: len(members) / total for mark in _marks(cell)})
    shift = {cell: _hash(seed, repr(cell)) / 2**64 for cell in cells}
    taken: Counter[Hashable] = Counter()
    order: list[T] = []
    for n in range(1, total + 1):
        lag = {c: sum(n * shares[m] - taken[m] for m in _marks(c)) + shift[c] for c, left in cells.items() if left}
        cell = max(lag, key=lambda c: (lag[c], repr(c)))
        taken.update(_marks(cell))
        order.append(cells[cell].pop())
    return order


def _marks(cell: tuple[Hashable, ...]) -> list[Hashable]:
    """What is counted: each property's value, and the cell itself."""
    return [*enumerate(cell), cell]


def merged(lists: Sequence[Sequence[T]]) -> list[T]:
    """Several orders as one, each spread evenly over the whole and otherwise kept."""
    placed = [((i + 0.5) / len(items), n, item) for n, items in enumerate(lists) for i, item in enumerate(items)]
    return [item for _, _, item in sorted(placed, key=lambda p: p[:2])]


def _hash(seed: int, text: str) -> int:
    return int.from_bytes(hashlib.sha256(f"{seed}:{text}".encode()).digest()[:8], "big")
