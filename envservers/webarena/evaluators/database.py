"""What a session changed in the shop's database: every expected change once, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from envservers.webarena.evaluators.evidence import Evidence, Verdict
from envservers.webarena.evaluators.values import Matcher, matches
from envservers.webarena.state.diff import Change

KEY = "id"
NewIds = Mapping[str, set[int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Insert:
    """A new row. Every column of it but the id stands here or is allowed."""

    table: str
    values: Mapping[str, Matcher]

    def fits(self, change: Change, allowed: frozenset[str], new: NewIds) -> bool:
        """Whether a change is this one; `allowed` are columns of its table."""
        return change.kind == "insert" and _all_match(self.values, _without(change.after, {KEY, *allowed}), new)

    def __str__(self) -> str:
        return f"a new row in {self.table}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Update:
    """A row with other values, in exactly these columns."""

    table: str
    id: int
    values: Mapping[str, Matcher]

    def fits(self, change: Change, allowed: frozenset[str], new: NewIds) -> bool:
        """Whether a change is this one; `allowed` are columns of its table."""
        if change.kind != "update" or change.id != self.id:
            return False
        return _all_match(self.values, _without(changed_cells(change), allowed), new)

    def __str__(self) -> str:
        return f"a change of {', '.join(self.values)} in {self.table}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Delete:
    """A row that is gone."""

    table: str
    id: int

    def fits(self, change: Change, allowed: frozenset[str], new: NewIds) -> bool:
        """Whether a change is this one."""
        return change.kind == "delete" and change.id == self.id

    def __str__(self) -> str:
        return f"a row fewer in {self.table}"


Expected = Insert | Update | Delete


@dataclass(frozen=True, slots=True, kw_only=True)
class Allow:
    """A column whose value nobody asked about: in expected rows, and in updates of such columns alone."""

    table: str
    column: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Database:
    """The changes that an episode must leave; without any, it must leave none."""

    inserts: tuple[Insert, ...] = ()
    updates: tuple[Update, ...] = ()
    deletes: tuple[Delete, ...] = ()
    allow: tuple[Allow, ...] = ()

    @property
    def expected(self) -> tuple[Expected, ...]:
        """Every change that there must be."""
        return (*self.inserts, *self.updates, *self.deletes)

    def judge(self, evidence: Evidence) -> Verdict:
        """Match expected with actual changes one to one; whatever is left on either side is wrong."""
        new: dict[str, set[int]] = {}
        for change in evidence.changes:
            if change.kind == "insert":
                new.setdefault(change.table, set()).add(change.id)
        actual = [change for change in evidence.changes if not self._negligible(change)]
        taken = _assigned(self.expected, actual, lambda wanted, change: self._fits(wanted, change, new))
        missing = [str(wanted) for place, wanted in enumerate(self.expected) if place not in taken]
        extra = [change for place, change in enumerate(actual) if place not in taken.values()]
        return _verdict(missing, extra)

    def allowed(self, table: str) -> frozenset[str]:
        """Columns of a table that are not looked at."""
        return frozenset(a.column for a in self.allow if a.table == table)

    def _fits(self, wanted: Expected, change: Change, new: NewIds) -> bool:
        return wanted.table == change.table and wanted.fits(change, self.allowed(change.table), new)

    def _negligible(self, change: Change) -> bool:
        """An update of allowed columns alone."""
        return change.kind == "update" and self.allowed(change.table).issuperset(change.columns)


def _verdict(missing: Sequence[str], extra: Sequence[Change]) -> Verdict:
    parts = [f"missing: {', '.join(missing)}"] if missing else []
    if extra:
        kinds = sorted({f"{change.kind} in {change.table}" for change in extra})
        parts.append(f"not asked for: {', '.join(kinds)}")
    reason = "; ".join(parts) or "the database has the changes asked for and no other"
    return Verdict(check="db", passed=not parts, reason=reason)


def changed_cells(change: Change) -> dict[str, Any]:
    """The columns that differ, as they are now."""
    after = change.after or {}
    return {name: after[name] for name in change.columns if name in after}


def _without(row: Mapping[str, Any] | None, names: frozenset[str] | set[str]) -> dict[str, Any]:
    return {name: value for name, value in (row or {}).items() if name not in names}


def _all_match(wanted: Mapping[str, Matcher], row: Mapping[str, Any], new: NewIds) -> bool:
    return row.keys() == wanted.keys() and all(matches(wanted[name], value, new) for name, value in row.items())


def _assigned(
    expected: Sequence[Expected], actual: Sequence[Change], fits: Callable[[Expected, Change], bool]
) -> dict[int, int]:
    """As many pairs of places as possible (augmenting paths): expected to actual."""
    owner: dict[int, int] = {}

    def place(wanted: int, tried: set[int]) -> bool:
        for index, change in enumerate(actual):
            if index not in tried and fits(expected[wanted], change):
                tried.add(index)
                if index not in owner or place(owner[index], tried):
                    owner[index] = wanted
                    return True
        return False

    for wanted in range(len(expected)):
        place(wanted, set())
    return {wanted: index for index, wanted in owner.items()}
