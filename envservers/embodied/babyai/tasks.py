"""The tasks of BabyAI, from a table that `make_tasks` wrote. Worlds are made when a task is played, not before.

A line of `tasks.tsv` is a split, a level, and `seed:steps:digest` of each of its tasks; `steps` are those of the
scripted solution, 0 where none is known, and `digest` names the world (see `canonical`). Within a split the levels
take turns, so that any stretch of a split is a mix of all its levels.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from itertools import chain, zip_longest
from typing import Any

from agentenv.needs import need_packages
from agentenv.protocol import UNPROVEN, Task, digest_of
from agentenv.registry import MadeTasks, TaskSet
from envservers.embodied.babyai.levels import LEVELS

ENV_ID = "babyai"
VERSION = "1"
"""Of what a row of the table means."""
GRADES = (1, 4, 10, 20)
"""Steps of the scripted solution up to which the difficulty is 1, 2, 3 and 4; above it is 5."""
REFERENCE_SPLIT = "agentgym"
REFERENCE_LIMIT = 20
"""Steps that a task of the reference's numbering allows at least: the rounds that the reference plays."""


@dataclass(frozen=True, slots=True)
class Row:
    """One task of the table."""

    level: str
    seed: int
    steps: int
    """Of the scripted solution; 0 where none is known."""
    digest: str
    """Of the world, canonical."""

    def __str__(self) -> str:
        return f"{self.seed}:{self.steps}:{self.digest}"


def make_tasks(options: Mapping[str, Any]) -> TaskSet:
    """The splits of the table; no option changes them. EnvUnavailable without minigrid, which makes the worlds."""
    need_packages(ENV_ID, "embodied", "minigrid")
    digest = digest_of([VERSION, hashlib.sha256(_text().encode()).hexdigest(), dict(options)])
    return MadeTasks(counts={split: len(rows) for split, rows in table().items()}, digest=digest, make=_task)


def canonical_task(task: Task) -> str:
    """Equal for two tasks whose worlds are one puzzle."""
    return str(task.payload["world"])


def difficulty(steps: int) -> int:
    """1 to 5 by the length of the scripted solution; 0 without one."""
    return 0 if steps == 0 else 1 + sum(steps > grade for grade in GRADES)


def step_limit(split: str, steps: int) -> int:
    """A task's own limit: twice its scripted solution and four more."""
    return max(REFERENCE_LIMIT if split == REFERENCE_SPLIT else 0, 2 * steps + 4)


@functools.cache
def table() -> Mapping[str, tuple[Row, ...]]:
    """The rows of each split in the order of their tasks."""
    by_level: dict[str, list[list[Row]]] = {}
    for line in _text().splitlines():
        split, level, *entries = line.split(" ")
        by_level.setdefault(split, []).append([_row(level, entry) for entry in entries])
    return {split: tuple(_taking_turns(levels)) for split, levels in by_level.items()}


def _row(level: str, entry: str) -> Row:
    seed, steps, digest = entry.split(":")
    return Row(level, int(seed), int(steps), digest)


def _taking_turns(levels: list[list[Row]]) -> Iterator[Row]:
    return (row for row in chain.from_iterable(zip_longest(*levels)) if row is not None)


def _text() -> str:
    return files(__package__).joinpath("tasks.tsv").read_text(encoding="utf-8")


def facts(options: Mapping[str, Any] | None = None) -> dict[str, object]:
    """Levels and unproven tasks of each split; the rest is counted for every card."""
    splits = table()
    return {
        "levels": {split: len({row.level for row in rows}) for split, rows in splits.items()},
        "unproven": {split: sum(row.steps == 0 for row in rows) for split, rows in splits.items()},
    }


def _task(split: str, index: int) -> Task:
    row = table()[split][index]
    return Task(
        id=f"{ENV_ID}/{split}/{index}",
        env=ENV_ID,
        split=split,
        index=index,
        category=LEVELS[row.level].category if row.steps else UNPROVEN,
        difficulty=difficulty(row.steps),
        template=row.level,
        seed=row.seed,
        payload={"level": row.level, "world": row.digest},
        max_steps=step_limit(split, row.steps),
    )
