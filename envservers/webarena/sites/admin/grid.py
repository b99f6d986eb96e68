"""Long tables: filters and sorting by the query, page by page. Every list of the administration is one of these."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from envservers.webarena.sites.common.forms import Draft, Form
from envservers.webarena.sites.common.page import Page
from envservers.webarena.sites.common.paging import Pages, pages
from envservers.webarena.state.database import Row, Value

PER_PAGE = 20


class Column(NamedTuple):
    """One column of a grid. `sql` is what it is sorted by; without, it cannot be sorted."""

    key: str
    title: str
    sql: str = ""
    number: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """One page of a list."""

    columns: Sequence[Column]
    rows: list[Row]
    pages: Pages
    sort: str
    """Key of the column it is sorted by."""
    down: bool
    filtered: bool
    """Whether a filter holds, so that an empty list says so."""

    def turn(self, column: Column) -> str:
        """The direction that a click on a column's title asks for."""
        return "desc" if column.key == self.sort and not self.down else "asc"


class Filters:
    """Conditions from the query. What cannot be read is told under its field and filters nothing."""

    def __init__(self, page: Page) -> None:
        self._form = Form(page.request.query)
        self._clauses: list[str] = []
        self._values: list[Value] = []

    @property
    def draft(self) -> Draft:
        """What the filter's fields show."""
        return Draft(values=self._form.values, errors=self._form.errors)

    @property
    def values(self) -> tuple[Value, ...]:
        """For the marks in `where`."""
        return tuple(self._values)

    @property
    def where(self) -> str:
        """A clause of SQL, empty when everything is asked for."""
        return f" WHERE {' AND '.join(self._clauses)}" if self._clauses else ""

    @property
    def active(self) -> bool:
        """Whether anything is filtered."""
        return bool(self._clauses)

    def add(self, clause: str, *values: Value) -> None:
        """A condition of one's own."""
        self._clauses.append(clause)
        self._values += values

    def contains(self, name: str, label: str, *columns: str) -> None:
        """A text that one of the columns holds, in any case."""
        text = self._form.text(name, label, needed=False)
        if text and name not in self._form.errors:
            part = "%" + text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"
            self.add(
                "(" + " OR ".join(f"{column} LIKE ? ESCAPE '\\'" for column in columns) + ")", *[part] * len(columns)
            )

    def choice(self, name: str, label: str, options: Collection[str], column: str) -> str:
        """One of the options."""
        chosen = self._form.choice(name, label, options, needed=False)
        if chosen:
            self.add(f"{column} = ?", chosen)
        return chosen

    def days(self, column: str, low: str = "from", high: str = "to") -> None:
        """The first and the last day of a time."""
        first = self._form.day(low, "Date from", needed=False)
        last = self._form.day(high, "Date to", needed=False)
        if first:
            self.add(f"{column} >= ?", first)
        if last:
            self.add(f"{column} <= ?", f"{last} 23:59:59")

    def holds_on(self, name: str, starts: str, ends: str) -> None:
        """A day between two others."""
        asked = self._form.day(name, "Valid on", needed=False)
        if asked:
            self.add(f"{starts} <= ? AND {ends} >= ?", asked, asked)

    def amounts(self, label: str, column: str, low: str, high: str) -> None:
        """The least and the most of an amount in cents."""
        least = self._form.cents(low, f"{label} from", needed=False)
        most = self._form.cents(high, f"{label} to", needed=False)
        if least is not None:
            self.add(f"{column} >= ?", least)
        if most is not None:
            self.add(f"{column} <= ?", most)

    def numbers(self, label: str, column: str, low: str, high: str) -> None:
        """The least and the most of a count."""
        least = self._form.number(low, f"{label} from", otherwise=-1)
        most = self._form.number(high, f"{label} to", otherwise=-1)
        if least >= 0 and low not in self._form.errors:
            self.add(f"{column} >= ?", least)
        if most >= 0 and high not in self._form.errors:
            self.add(f"{column} <= ?", most)


def grid(
    page: Page,
    columns: Sequence[Column],
    filters: Filters,
    *,
    select: str,
    source: str,
    first: str,
    key: str,
    per: int = PER_PAGE,
) -> Grid:
    """The page of the list that the query asks for.

    select, source: columns and tables of SQL. first: the column it is sorted by unless asked, with a minus for the
    other way round. key: `table.column`, which decides between equals; there is one row of `source`
    for each row of this table.
    """
    sort, down, order = _order(page, columns, first)
    way = "DESC" if down else "ASC"
    # Keys first: sorting whole rows costs several times as much.
    keys = f"SELECT {key} FROM {source}{filters.where} ORDER BY {order} {way}, {key} {way}"
    if filters.active:
        found = [row[0] for row in page.db.all(keys, *filters.values)]
        cut = pages(len(found), page.asked("page"), per)
        shown = list(cut.cut(found))
    else:
        table = key.partition(".")[0]
        cut = pages(page.db.value(f"SELECT count(*) FROM {table}"), page.asked("page"), per)
        shown = [row[0] for row in page.db.all(f"{keys} LIMIT ? OFFSET ?", cut.per, cut.skipped)]
    marks = ",".join("?" * len(shown))
    rows = page.db.all(
        f"SELECT {select} FROM {source} WHERE {key} IN ({marks}) ORDER BY {order} {way}, {key} {way}", *shown
    )
    return Grid(columns=columns, rows=rows, pages=cut, sort=sort, down=down, filtered=filters.active)


def everything(
    page: Page,
    columns: Sequence[Column],
    filters: Filters,
    *,
    select: str,
    source: str,
    first: str,
    key: str,
    limit: int,
) -> list[Row]:
    """The first rows of the list as filtered and sorted, regardless of its pages."""
    _, down, order = _order(page, columns, first)
    way = "DESC" if down else "ASC"
    return page.db.all(
        f"SELECT {select} FROM {source}{filters.where} ORDER BY {order} {way}, {key} {way} LIMIT ?",
        *(*filters.values, limit),
    )


def picked(page: Page) -> list[int]:
    """Ids of the rows that were ticked for an action."""
    values = [value for name, value in page.request.form if name == "picked"]
    return list(
        dict.fromkeys(int(value) for value in values if value.isascii() and value.isdecimal() and len(value) < 10)
    )


def _order(page: Page, columns: Sequence[Column], first: str) -> tuple[str, bool, str]:
    """Key of the column, whether downwards, and the expression of SQL."""
    found = {column.key: column.sql for column in columns if column.sql}
    if page.asked("sort") in found:
        key = page.asked("sort")
        return key, page.asked("order") == "desc", found[key]
    key = first.removeprefix("-")
    return key, first.startswith("-"), found[key]
