"""Ends that are nearly right, made by machine from a right one: a check of the database must refuse each of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

from envservers.webarena.evaluators.database import Database
from envservers.webarena.evaluators.evidence import Evidence
from envservers.webarena.state.diff import Change

Changes = tuple[Change, ...]


def surviving(check: Database, evidence: Evidence) -> list[str]:
    """What the check lets through, of the mutants of an episode that it accepts."""
    return [
        name
        for name, changes in mutants(check, tuple(evidence.changes))
        if check.judge(dataclasses.replace(evidence, changes=changes)).passed
    ]


def mutants(check: Database, changes: Changes) -> Iterator[tuple[str, Changes]]:
    """Nothing done; each row another one; each value that is asked for another one; one write more."""
    yield "nothing", ()
    for place, change in enumerate(changes):
        looked_at = [name for name in _columns(change) if name not in check.allowed(change.table)]
        if not looked_at:
            continue
        yield f"wrong row in {change.table}", _with(changes, place, _other_row(change, looked_at))
        for name in looked_at if change.kind != "delete" else ():
            yield f"wrong {change.table}.{name}", _with(changes, place, _other_value(change, name))
        yield f"{change.table} left out", changes[:place] + changes[place + 1 :]
        yield f"extra write in {change.table}", (*changes, _another(change))


def _columns(change: Change) -> Sequence[str]:
    return [name for name in change.columns if name != "id"]


def _with(changes: Changes, place: int, change: Change) -> Changes:
    return (*changes[:place], change, *changes[place + 1 :])


def _other_row(change: Change, looked_at: Sequence[str]) -> Change:
    """An update or delete of the next row; an insert that belongs to another row, or is called otherwise."""
    if change.kind != "insert":
        return _renumbered(change)
    owner = next((name for name in looked_at if name.endswith("_id")), looked_at[0])
    return _other_value(change, owner)


def _other_value(change: Change, name: str) -> Change:
    after = dict(change.after or {})
    after[name] = _perturbed(after[name], (change.before or {}).get(name))
    return dataclasses.replace(change, after=after)


def _perturbed(value: Any, before: Any) -> Any:
    """Another value of the type, and not the one from before either."""
    if isinstance(value, str):
        return f"{value}x"
    if isinstance(value, int | float):
        return value + (2 if value + 1 == before else 1)
    return 1 if value is None else None


def _another(change: Change) -> Change:
    """The same change once more, of another row."""
    return _renumbered(change, by=1000)


def _renumbered(change: Change, by: int = 1) -> Change:
    def moved(row: Any) -> Any:
        return None if row is None else {**row, "id": change.id + by}

    return dataclasses.replace(change, id=change.id + by, before=moved(change.before), after=moved(change.after))
