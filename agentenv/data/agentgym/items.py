"""Rows with their places, and what they come to in sum."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from agentenv.data.agentgym.files import EVAL, TRAIN, Row
from agentenv.data.agentgym.places import Place, Status
from agentenv.protocol import TaskRef


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A row and its place."""

    row: Row
    place: Place

    def task(self, *, stand_ins: bool) -> TaskRef | None:
        """The task that is played for it; None where there is none.

        What stands in for a task to train on is one of `train` itself, and no other item has one of these.
        """
        instead = self.place.stand_in if stand_ins else None
        if instead is not None and (instead.split == "train") != (self.row.role == TRAIN):
            instead = None
        return self.place.task or instead

    def to_json(self) -> dict[str, Any]:
        """For the list of items."""
        row, place = self.row, self.place
        return {
            "item_id": row.item_id,
            "file": row.file,
            "row": row.number,
            "role": row.role,
            "category": row.category,
            "conversation": bool(row.conversation),
            "status": place.status.value,
            "why": place.why,
            "task": place.task.id if place.task else None,
            "stand_in": place.stand_in.id if place.stand_in else None,
            "options": dict(place.options),
        }


def table(items: Sequence[Item]) -> list[dict[str, Any]]:
    """By kind and role: how many items there are, and what they come to."""
    found: dict[tuple[str, str], Counter[str]] = {}
    for item in items:
        name = item.place.kind.name if item.place.kind else "unknown"
        counts = found.setdefault((name, item.row.role), Counter())
        counts["items"] += 1
        counts[item.place.status.name.lower()] += 1
        counts["stand_ins"] += item.place.stand_in is not None
        counts["recorded"] += bool(item.row.conversation)
    columns = ("items", "ok", "needs", "not_portable", "stand_ins", "recorded")
    return [
        {"kind": name, "role": role, **{column: counts[column] for column in columns}}
        for (name, role), counts in sorted(found.items())
    ]


def reasons(items: Sequence[Item]) -> list[dict[str, Any]]:
    """Why items are not here, with how many of each kind."""
    counted = Counter(
        (item.place.kind.name if item.place.kind else "unknown", item.place.status.value, item.place.why)
        for item in items
        if item.place.status is not Status.OK
    )
    return [{"kind": k, "status": status, "why": why, "items": n} for (k, status, why), n in sorted(counted.items())]


def in_both(items: Sequence[Item]) -> int:
    """How many items are to train on and to test with: what is learned there says nothing of the test."""
    by_role = {role: {item.row.item_id for item in items if item.row.role == role} for role in (TRAIN, EVAL)}
    return len(by_role[TRAIN] & by_role[EVAL])
