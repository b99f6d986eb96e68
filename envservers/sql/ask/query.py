"""A query as a value, and as SQL: so that a question and its mutants are made from one thing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

Literal = str | int | float


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table, or of what a table is called in the query."""

    table: str
    name: str

    def __str__(self) -> str:
        return f"{self.table}.{self.name}"


@dataclass(frozen=True, slots=True)
class Year:
    """The year of a date, a number."""

    of: Column

    def __str__(self) -> str:
        return f"CAST(strftime('%Y', {self.of}) AS INTEGER)"


@dataclass(frozen=True, slots=True)
class Total:
    """An aggregate; `of` None counts rows."""

    function: str
    of: Column | None = None
    distinct: bool = False

    def __str__(self) -> str:
        inner = "*" if self.of is None else f"{'DISTINCT ' if self.distinct else ''}{self.of}"
        return f"{self.function}({inner})"


@dataclass(frozen=True, slots=True)
class Share:
    """The percentage of rows for which a condition holds."""

    of: Compare

    def __str__(self) -> str:
        return f"100.0 * SUM({self.of}) / COUNT(*)"


Term = Column | Year | Total | Share


@dataclass(frozen=True, slots=True)
class Compare:
    """`left op right`; the right side is a value, a column or a query of one value."""

    left: Term
    op: str
    right: Literal | Column | Query

    def __str__(self) -> str:
        return f"{self.left} {self.op} {_right(self.right)}"


@dataclass(frozen=True, slots=True)
class Between:
    """From low to high, both included."""

    left: Column
    low: Literal
    high: Literal

    def __str__(self) -> str:
        return f"{self.left} BETWEEN {literal(self.low)} AND {literal(self.high)}"


@dataclass(frozen=True, slots=True)
class Missing:
    """Whether there is no value."""

    left: Column
    missing: bool = True

    def __str__(self) -> str:
        return f"{self.left} IS {'' if self.missing else 'NOT '}NULL"


@dataclass(frozen=True, slots=True)
class Among:
    """Whether a value is among those of a query."""

    left: Column
    query: Query
    among: bool = True

    def __str__(self) -> str:
        return f"{self.left} {'' if self.among else 'NOT '}IN ({self.query})"


@dataclass(frozen=True, slots=True)
class Either:
    """Whether one of two conditions holds."""

    first: Condition
    second: Condition

    def __str__(self) -> str:
        return f"({self.first} OR {self.second})"


Condition = Compare | Between | Missing | Among | Either


@dataclass(frozen=True, slots=True)
class Join:
    """The table of `parent`, joined on `child = parent`; or the table of `child` when `down`."""

    child: Column
    parent: Column
    down: bool = False
    left: bool = False
    on: tuple[Condition, ...] = ()
    """Further conditions of the join."""

    def __str__(self) -> str:
        joined = self.child.table if self.down else self.parent.table
        on = " AND ".join([f"{self.child} = {self.parent}", *map(str, self.on)])
        return f"{'LEFT JOIN' if self.left else 'JOIN'} {joined} ON {on}"


@dataclass(frozen=True, slots=True)
class Order:
    """One key of the order of rows."""

    by: Term
    down: bool = False

    def __str__(self) -> str:
        return f"{self.by} DESC" if self.down else str(self.by)


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """One SELECT."""

    select: tuple[Term, ...]
    source: str
    called: str = ""
    """Another name of the source."""
    distinct: bool = False
    joins: tuple[Join, ...] = ()
    where: tuple[Condition, ...] = ()
    group: tuple[Term, ...] = ()
    having: tuple[Compare, ...] = ()
    order: tuple[Order, ...] = ()
    limit: int | None = None
    offset: int = 0

    def __str__(self) -> str:
        parts = [f"SELECT {'DISTINCT ' if self.distinct else ''}{', '.join(map(str, self.select))}"]
        parts.append(f"FROM {self.source}{f' AS {self.called}' if self.called else ''}")
        parts += map(str, self.joins)
        for word, glue, listed in (
            ("WHERE", " AND ", self.where),
            ("GROUP BY", ", ", self.group),
            ("HAVING", " AND ", self.having),
            ("ORDER BY", ", ", self.order),
        ):
            if listed:
                parts.append(f"{word} {glue.join(map(str, listed))}")
        if self.limit is not None:
            parts.append(f"LIMIT {self.limit}{f' OFFSET {self.offset}' if self.offset else ''}")
        return " ".join(parts)


def literal(value: Literal) -> str:
    """A value as SQL."""
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else repr(value)


def conditions(query: Query) -> Iterator[Condition]:
    """Every condition of a query, of its joins and of the queries in it."""
    for condition in [*query.where, *query.having, *(c for join in query.joins for c in join.on)]:
        for single in (condition.first, condition.second) if isinstance(condition, Either) else (condition,):
            yield single
            inner = inner_query(single)
            if inner is not None:
                yield from conditions(inner)


def inner_query(condition: Condition) -> Query | None:
    """The query inside a condition."""
    if isinstance(condition, Among):
        return condition.query
    if isinstance(condition, Compare) and isinstance(condition.right, Query):
        return condition.right
    return None


def columns(query: Query) -> set[Column]:
    """Every column that a query reads, those that only join left out."""
    terms: list[Term | None] = [*query.select, *query.group, *(o.by for o in query.order)]
    for condition in conditions(query):
        if isinstance(condition, Compare | Between | Missing):
            terms.append(condition.left)
    found = {c for term in terms for c in _columns_of(term)}
    for condition in conditions(query):
        inner = inner_query(condition)
        if inner is not None:
            found |= {c for term in inner.select for c in _columns_of(term)}
    return found


def size(query: Query) -> int:
    """Parts beyond `SELECT column FROM table`: joins, conditions, groups, orders, limits, aggregates, inner queries."""
    parts = len(query.joins) + len(query.group) + len(query.having) + bool(query.order) + bool(query.limit)
    parts += query.distinct + any(not isinstance(term, Column) for term in query.select)
    for condition in [*query.where, *(c for join in query.joins for c in join.on)]:
        singles = (condition.first, condition.second) if isinstance(condition, Either) else (condition,)
        parts += len(singles)
    for condition in [*query.where, *query.having]:
        inner = inner_query(condition)
        parts += 1 + size(inner) if inner is not None else 0
    return parts


def _columns_of(term: Term | None) -> Iterator[Column]:
    match term:
        case Column():
            yield term
        case Year(of=of) | Total(of=Column() as of):
            yield of
        case Share(of=of):
            yield from _columns_of(of.left)


def _right(right: Literal | Column | Query) -> str:
    if isinstance(right, Query):
        return f"({right})"
    return str(right) if isinstance(right, Column) else literal(right)
