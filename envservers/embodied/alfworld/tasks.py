"""The tasks of AlfWorld, from a table that `make_tasks` wrote. Households are made when a task is played, not before.

A line of `tasks.tsv` is a split, a chore, a thing, a place, and `room:seed:steps:digest` of each of its tasks; `steps`
are those of the scripted solution and `digest` names the household (see `generate`). The seeds give
the order of a split.
"""

from __future__ import annotations

import functools
import hashlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from agentenv.protocol import Task, digest_of
from agentenv.registry import MadeTasks, TaskSet
from envservers.embodied.alfworld.catalogue import Template, room_type

ENV_ID = "alfworld"
VERSION = "2"
"""Of what a row of the table means, and of the goals' words."""
GRADES = (6, 9, 13, 18)
"""Steps of the scripted solution up to which the difficulty is 1, 2, 3 and 4; above it is 5."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One task of the table."""

    template: Template
    room: int
    seed: int
    steps: int
    """Of the scripted solution."""
    digest: str
    """Of the household, canonical."""

    @property
    def game(self) -> str:
        """As the reference names its games, such as `pick_heat_then_place_in_recep-Egg-None-Fridge-7/trial_000042`."""
        return f"{self.template}-{self.room}/trial_{self.seed:06d}"


def make_tasks(options: Mapping[str, Any]) -> TaskSet:
    """The splits of the table; no option changes them."""
    digest = digest_of([VERSION, hashlib.sha256(_text().encode()).hexdigest(), dict(options)])
    return MadeTasks(counts={split: len(rows) for split, rows in table().items()}, digest=digest, make=_task)


def canonical_task(task: Task) -> str:
    """Equal for two tasks whose households are one puzzle."""
    return str(task.payload["house"])


def difficulty(steps: int) -> int:
    """1 to 5 by the length of the scripted solution."""
    return 1 + sum(steps > grade for grade in GRADES)


@functools.cache
def table() -> Mapping[str, tuple[Row, ...]]:
    """The rows of each split in the order of their tasks."""
    rows: dict[str, list[Row]] = {}
    for line in _text().splitlines():
        split, chore, thing, place, *entries = line.split(" ")
        template = Template(chore=chore, thing=thing, place=place)
        rows.setdefault(split, []).extend(_row(template, entry) for entry in entries)
    return {split: tuple(sorted(some, key=lambda row: row.seed)) for split, some in rows.items()}


def _row(template: Template, entry: str) -> Row:
    room, seed, steps, digest = entry.split(":")
    return Row(template=template, room=int(room), seed=int(seed), steps=int(steps), digest=digest)


def _text() -> str:
    return files(__package__).joinpath("tasks.tsv").read_text(encoding="utf-8")


def facts(options: Mapping[str, Any] | None = None) -> dict[str, object]:
    """Rooms, and tasks by type of room, for each split; the rest is counted for every card."""
    splits = table()

    return {
        "rooms": {split: len({row.room for row in rows}) for split, rows in splits.items()},
        "tasks_by_room_type": {
            split: dict(sorted(Counter(room_type(row.room) for row in rows).items())) for split, rows in splits.items()
        },
    }


def _task(split: str, index: int) -> Task:
    row = table()[split][index]
    wanted = row.template
    return Task(
        id=f"{ENV_ID}/{split}/{index}",
        env=ENV_ID,
        split=split,
        index=index,
        category=wanted.chore,
        difficulty=difficulty(row.steps),
        template=str(wanted),
        seed=row.seed,
        payload={
            "chore": wanted.chore,
            "thing": wanted.thing,
            "place": wanted.place,
            "room": row.room,
            "house": row.digest,
            "game": row.game,
        },
    )
