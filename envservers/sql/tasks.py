"""The tasks of SQL: questions of the table that `make_tasks` wrote, or of a folder of BIRD's or Spider's kind.

A line of `tasks.tsv` is a split, a schema, a template and a number; `draw` makes the question of them. Nothing is built
and no database is opened to know a task.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from agentenv.protocol import Task, digest_of
from agentenv.registry import MadeTasks, TaskSet
from envservers.sql.ask.draw import draw, templates
from envservers.sql.spec import ENV_ID

VERSION = "1"
"""Of schemas, rows and questions."""
COUNTS: Mapping[str, int] = {"train": 9_000, "dev": 300, "test": 500, "test_ood": 500}
TABLE = "tasks.tsv"
STEPS = {"single": 1, "multi": 15}
"""A task's limit by mode."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One task of the table."""

    schema: str
    template: str
    number: int

    def __str__(self) -> str:
        return f"{self.schema} {self.template} {self.number}"


def make_tasks(options: Mapping[str, Any]) -> TaskSet:
    """The task set under these options."""
    mode, folder = str(options.get("mode") or "single"), str(options.get("folder") or "")
    if folder:
        from envservers.sql.folders import folder_tasks

        return folder_tasks(Path(folder), mode, evidence=bool(options.get("evidence")))
    return world_tasks(mode)


def canonical_task(task: Task) -> Any:
    """What makes two tasks the same question: the schema and the query without its values, or the question's words."""
    return task.payload["canonical"]


def world_tasks(mode: str) -> TaskSet:
    """The questions about the project's own databases. No two splits ask about the same schema."""
    counts = {split: len(entries) for split, entries in table().items()}
    return MadeTasks(
        counts=counts, digest=digest_of([ENV_ID, VERSION, mode, _text()]), make=functools.partial(_task, STEPS[mode])
    )


@functools.cache
def table() -> Mapping[str, tuple[Entry, ...]]:
    """The tasks of each split in order."""
    found: dict[str, list[Entry]] = {split: [] for split in COUNTS}
    for line in _text().splitlines():
        split, schema, template, number = line.split(" ")
        found[split].append(Entry(schema, template, int(number)))
    return {split: tuple(entries) for split, entries in found.items()}


def facts(options: Mapping[str, Any] | None = None) -> dict[str, object]:
    """Schemas, templates and categories of each split, and how its questions name columns and values."""
    found: dict[str, object] = {}
    for split, entries in table().items():
        drafts = [draw(e.schema, e.template, e.number, held=split == "test_ood") for e in entries]
        known = [draft for draft in drafts if draft is not None]
        found[split] = {
            "schemas": sorted({e.schema for e in entries}),
            "templates": len({e.template for e in entries}),
            "by_category": dict(sorted(Counter(templates()[e.template].category for e in entries).items())),
            "by_difficulty": {str(k): n for k, n in sorted(Counter(d.difficulty for d in known).items())},
            "single_value": round(sum(d.scalar for d in known) / len(known), 3),
            "column_not_named": round(sum(not d.named for d in known) / len(known), 3),
            "value_respelled": round(sum(d.respelled for d in known) / len(known), 3),
        }
    return found


def _text() -> str:
    return files(__package__).joinpath(TABLE).read_text(encoding="utf-8")


def _task(max_steps: int, split: str, index: int) -> Task:
    entry = table()[split][index]
    draft = draw(entry.schema, entry.template, entry.number, held=split == "test_ood")
    if draft is None:
        raise ValueError(f"{TABLE}: {entry} of {split} is no question")
    return Task(
        id=f"{ENV_ID}/{split}/{index}",
        env=ENV_ID,
        split=split,
        index=index,
        category=templates()[entry.template].category,
        difficulty=draft.difficulty,
        template=entry.template,
        payload={
            "schema": entry.schema,
            "question": draft.question,
            "sql": draft.sql,
            "ordered": draft.ordered,
            "canonical": [entry.schema, draft.shape],
        },
        max_steps=max_steps,
    )
