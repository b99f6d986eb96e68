"""When two results are the same.

`strict`, the default: the same columns in the same order, every row as often, numbers equal within 1e-9 of their size,
texts never equal to numbers, no value equal to no value alone; rows in order where the gold query fixes their order.
`set`: as BIRD and the reference count, equal sets of rows.
"""

from __future__ import annotations

import math
import re
from collections.abc import Hashable, Sequence

from envservers.sql.guard import Cell, Row

TOLERANCE = 1e-9
MATCHES = ("strict", "set")
_TOKENS = re.compile(
    r"""--[^\n]*|/\*.*?(?:\*/|\Z)|'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`|\[[^\]]*\]|[()]|\border\s+by\b""",
    re.DOTALL | re.IGNORECASE,
)


def same(gold: Sequence[Row], given: Sequence[Row], *, ordered: bool, match: str = "strict") -> bool:
    """Whether the rows are the same."""
    if match == "set":
        return set(gold) == set(given)
    if len(gold) != len(given) or (gold and len(gold[0]) != len(given[0])):
        return False
    if ordered:
        return all(map(_same_row, gold, given))
    return _same_rows(gold, given)


def has_order(sql: str) -> bool:
    """Whether a query fixes the order of its rows: ORDER BY outside of all brackets."""
    depth = 0
    for token in _TOKENS.finditer(sql):
        text = token[0]
        depth += (text == "(") - (text == ")")
        if depth == 0 and text[:5].lower() == "order":
            return True
    return False


def _same_rows(gold: Sequence[Row], given: Sequence[Row]) -> bool:
    """As multisets: rows are sorted out by all but their numbers, then matched within each sort."""
    sorts: list[dict[Hashable, list[Row]]] = []
    for rows in (gold, given):
        by_kind: dict[Hashable, list[Row]] = {}
        for row in rows:
            by_kind.setdefault(tuple(map(_kind, row)), []).append(row)
        sorts.append(by_kind)
    first, second = sorts
    return first.keys() == second.keys() and all(_matched(rows, second[kind]) for kind, rows in first.items())


def _matched(gold: list[Row], given: list[Row]) -> bool:
    if len(gold) != len(given):
        return False
    gold, given = sorted(gold, key=_numbers), sorted(given, key=_numbers)
    if all(map(_same_row, gold, given)):
        return True
    # Sums that differ in the last digit may sort differently; each row then looks for a partner near its place.
    left = list(given)
    for row in gold:
        partner = next((place for place, other in enumerate(left[:64]) if _same_row(row, other)), None)
        if partner is None:
            return False
        del left[partner]
    return True


def _same_row(gold: Row, given: Row) -> bool:
    return all(map(_same_cell, gold, given))


def _same_cell(gold: Cell, given: Cell) -> bool:
    if isinstance(gold, int | float) and isinstance(given, int | float):
        if isinstance(gold, int) and isinstance(given, int):
            return gold == given
        return math.isclose(gold, given, rel_tol=TOLERANCE, abs_tol=1e-12)
    return type(gold) is type(given) and gold == given


def _kind(cell: Cell) -> Hashable:
    """Equal for all numbers; else type and value."""
    return "number" if isinstance(cell, int | float) else (type(cell).__name__, cell)


def _numbers(row: Row) -> tuple[float | int, ...]:
    return tuple(cell for cell in row if isinstance(cell, int | float))
