"""The tasks of Todo: a checked-in table of templates and keys; worlds are made when a task is played."""

from __future__ import annotations

import csv
import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any

from agentenv.errors import BadCall
from agentenv.protocol import Task, digest_of
from agentenv.registry import MadeTasks, TaskSet

VERSION = "1"
"""Of worlds, templates and phrasings; a golden test holds them to it."""
ENV_ID = "todo"
LEVELS = (3, 4, 5)
"""Most calls of a scripted solution, `finish` included, of difficulty 1, 2 and 3; more are difficulty 4."""
SPARE = 10
"""Steps that a task allows beyond twice its solution."""
DATA = ("tasks.tsv", "names.yaml", "phrasings.yaml")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A line of the table."""

    split: str
    template: str
    category: str
    phrasing: int
    pool: str
    key: str
    steps: int
    """Calls of the scripted solution, `finish` included."""

    @property
    def difficulty(self) -> int:
        """1 to 4."""
        return 1 + sum(self.steps > most for most in LEVELS)


def make_tasks(options: Mapping[str, Any]) -> TaskSet:
    """The task set."""
    if options:
        raise BadCall("todo has no options")
    # The table, the names and the phrasings; templates and worlds are fixed by the version.
    files = [resources.files(__package__).joinpath(name).read_text(encoding="utf-8") for name in DATA]
    counts = {split: len(rows) for split, rows in table().items()}
    return MadeTasks(counts=counts, digest=digest_of([ENV_ID, VERSION, *files]), make=_task)


def canonical_task(task: Task) -> Any:
    """What makes two tasks the same: what they ask for whatever the wording, and the names in it."""
    from envservers.tools.todo.cases import canonical

    return canonical(task.payload)


@functools.cache
def table() -> Mapping[str, Sequence[Row]]:
    """The rows by split."""
    text = resources.files(__package__).joinpath("tasks.tsv").read_text(encoding="utf-8")
    found: dict[str, list[Row]] = {}
    for line in csv.DictReader(text.splitlines(), delimiter="\t"):
        row = Row(**{**line, "phrasing": int(line["phrasing"]), "steps": int(line["steps"])})  # type: ignore[arg-type]
        found.setdefault(row.split, []).append(row)
    return found


def facts(options: Mapping[str, Any]) -> dict[str, Any]:
    """Figures of the table."""
    return {
        "templates": len({row.template for rows in table().values() for row in rows}),
        "tasks": {split: len(rows) for split, rows in table().items()},
    }


def _task(split: str, index: int) -> Task:
    row = table()[split][index]
    return Task(
        id=f"{ENV_ID}/{split}/{index}",
        env=ENV_ID,
        split=split,
        index=index,
        category=row.category,
        difficulty=row.difficulty,
        template=row.template,
        payload={"template": row.template, "key": row.key, "pool": row.pool, "phrasing": row.phrasing},
        max_steps=2 * row.steps + SPARE,
    )
