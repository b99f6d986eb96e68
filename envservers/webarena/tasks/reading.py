"""What plans read off a page: functions over its printed lines."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from envservers.webarena.tasks.observed import Line, inside
from envservers.webarena.tasks.plan import Reader

_MONEY = re.compile(r"-?\$[\d,]+\.\d\d")


def after(label: str, *, role: str = "") -> Reader:
    """The first text behind a line that says the label: a value in a table of pairs, or in a list of terms."""

    def read(lines: Sequence[Line]) -> str | None:
        places = [n for n, line in enumerate(lines) if line.name == label and line.role in (role or line.role,)]
        for place in places:
            found = next((line.name for line in lines[place + 1 :] if line.name.strip() not in ("", label)), None)
            if found is not None:
                return found
        return None

    return read


def cell(row_with: str, number: int) -> Reader:
    """The cell of this number, from 0, of the first table row that has a text; headers of rows count as cells."""

    def read(lines: Sequence[Line]) -> str | None:
        for part in inside(lines, "row", row_with):
            cells = [line.name for line in part if line.role in ("cell", "rowheader", "gridcell")]
            if len(cells) > number:
                return cells[number]
        return None

    return read


def money_after(text: str, *, role: str = "") -> Reader:
    """The first amount of money behind a line of this name (and role)."""

    def read(lines: Sequence[Line]) -> str | None:
        seen = False
        for line in lines:
            if seen and (found := _MONEY.search(line.name)):
                return found.group()
            seen = seen or (line.name == text and line.role in (role or line.role,))
        return None

    return read


def matching(pattern: str, *, role: str = "") -> Reader:
    """The first group of the first name that a pattern matches in full."""
    compiled = re.compile(pattern)

    def read(lines: Sequence[Line]) -> str | None:
        for line in lines:
            if line.role in (role or line.role,) and (found := compiled.fullmatch(line.name)):
                return found.group(1)
        return None

    return read


def every(pattern: str, *, role: str = "") -> Callable[[Sequence[Line]], list[str]]:
    """The first group of every name that a pattern matches in full, for `Gather`."""
    compiled = re.compile(pattern)

    def read(lines: Sequence[Line]) -> list[str]:
        found = (compiled.fullmatch(line.name) for line in lines if line.role in (role or line.role,))
        return [match.group(1) for match in found if match]

    return read
