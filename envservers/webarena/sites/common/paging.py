"""Long lists in pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Pages:
    """Where a page of a list lies."""

    number: int
    """From 1."""
    per: int
    total: int

    @property
    def last(self) -> int:
        """Number of the last page, at least 1."""
        return max(1, -(-self.total // self.per))

    @property
    def skipped(self) -> int:
        """How many rows come before."""
        return (self.number - 1) * self.per

    @property
    def start(self) -> int:
        """The first row's place, from 1; 0 in an empty list."""
        return min(self.skipped + 1, self.total)

    @property
    def end(self) -> int:
        """The last row's place."""
        return min(self.skipped + self.per, self.total)

    @property
    def numbers(self) -> list[int]:
        """The page numbers to offer: first, last and those around; 0 stands for a gap."""
        wanted = sorted({1, self.last, *range(max(1, self.number - 2), min(self.last, self.number + 2) + 1)})
        offered: list[int] = []
        for number in wanted:
            if offered and number > offered[-1] + 1:
                offered.append(0)
            offered.append(number)
        return offered

    def cut(self, rows: Sequence[T]) -> Sequence[T]:
        """This page's part of a whole list."""
        return rows[self.skipped : self.skipped + self.per]


def pages(total: int, asked: str, per: int) -> Pages:
    """The page that a query asks for; nonsense is the first page, beyond the end is the last."""
    number = int(asked) if asked.isdecimal() and asked.isascii() and len(asked) < 7 else 1
    last = max(1, -(-total // per))
    return Pages(number=min(max(1, number), last), per=per, total=total)
