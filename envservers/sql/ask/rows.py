"""Questions about the rows of one table. A builder gives the query and the words of its slots, or raises NoFit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from envservers.sql.ask.query import (
    Column,
    Compare,
    Condition,
    Either,
    Missing,
    Order,
    Query,
    Share,
    Term,
    Total,
    Year,
)
from envservers.sql.ask.words import NoFit, Said, Speaker, column, terms
from envservers.sql.worlds.schema import Field, Table

Asked = tuple[Query, Mapping[str, object]]


def list_one(s: Speaker) -> Asked:
    """One column of the rows that fit."""
    return _list(s, columns=1, conditions=1)


def list_two(s: Speaker) -> Asked:
    """Two columns."""
    return _list(s, columns=2, conditions=1)


def two_conditions(s: Speaker) -> Asked:
    """Two conditions at once."""
    return _list(s, columns=s.rng.choice((1, 2)), conditions=2)


def count_rows(s: Speaker) -> Asked:
    """How many rows fit."""
    table = any_table(s)
    said = said_of(s, table, s.rng.choice((1, 2)))
    query = Query(select=(Total("COUNT"),), source=table.name, where=where(said))
    return query, rows(table, said)


def total_rows(s: Speaker) -> Asked:
    """An aggregate over the rows that fit."""
    table = any_table(s)
    measure = s.measure(table)
    said = said_of(s, table, s.rng.choice((1, 2)), avoid=(measure,))
    total, words = s.total(measure)
    query = Query(select=(total,), source=table.name, where=where(said))
    return query, {**rows(table, said), "total": words}


def different_values(s: Speaker) -> Asked:
    """The values that occur, each once."""
    table = any_table(s)
    shown = s.category(table)
    said = said_of(s, table, s.rng.choice((1, 2)), avoid=(shown,))
    query = Query(select=(column(shown),), source=table.name, distinct=True, where=where(said))
    return query, {**rows(table, said), "shown": s.call(shown)}


def missing_list(s: Speaker) -> Asked:
    """Rows that lack a value, under one more condition or none."""
    table = any_table(s)
    lacking = [f for f in table.fields if f.nullable and f.kind != "ref"]
    if not lacking:
        raise NoFit(f"{table.name} lacks nothing")
    missing = s.rng.choice(lacking)
    said = said_of(s, table, s.rng.choice((0, 1)), avoid=(missing,))
    shown = s.shown(table, 1, avoid=(missing,))
    query = Query(select=terms(shown), source=table.name, where=(Missing(column(missing)), *where(said)))
    return query, {**rows(table, said), "shown": s.listed(shown), "lacking": s.call(missing), "be": s.be(missing)}


def either(s: Speaker) -> Asked:
    """One of two conditions."""
    table = any_table(s)
    first, second = said_of(s, table, 2)
    shown = s.shown(table, s.rng.choice((1, 2)), avoid=(first.field, second.field))
    query = Query(select=terms(shown), source=table.name, where=(Either(first.condition, second.condition),))
    slots = {**rows(table, []), "shown": s.listed(shown), "either": f"{first.one} or {second.one}"}
    return query, slots


def between(s: Speaker) -> Asked:
    """A range, its ends included."""
    table = any_table(s)
    measure = s.measure(table)
    span = s.between(measure)
    if span.low == span.high:
        raise NoFit("an empty range")
    shown = s.shown(table, s.rng.choice((1, 2)))
    query = Query(select=terms(shown), source=table.name, where=(span,))
    slots = {
        "shown": s.listed(shown),
        "measure": s.call(measure),
        "be": s.be(measure),
        "low": span.low,
        "high": span.high,
    }
    return query, {**rows(table, []), **slots}


def sorted_list(s: Speaker) -> Asked:
    """Rows in order."""
    table = any_table(s)
    said = said_of(s, table, s.rng.choice((1, 2)))
    query, slots = _ordered(s, table, said)
    return query, slots


def top_rows(s: Speaker) -> Asked:
    """The first few in order."""
    table = any_table(s)
    query, slots = _ordered(s, table, said_of(s, table, s.rng.choice((0, 1, 1))))
    limit = s.rng.randint(2, 8)
    return replaced(query, limit=limit), {**slots, "limit": limit}


def nth(s: Speaker) -> Asked:
    """One place of an order."""
    table = any_table(s)
    query, slots = _ordered(s, table, said_of(s, table, s.rng.choice((0, 1, 1))))
    place = s.rng.randint(2, 7)
    return replaced(query, limit=1, offset=place - 1), {**slots, "place": place}


def per_value(s: Speaker) -> Asked:
    """Counts by category."""
    return _grouped(s, Total("COUNT"))


def total_per_value(s: Speaker) -> Asked:
    """Aggregates by category."""
    return _grouped(s, None)


def per_year(s: Speaker) -> Asked:
    """Counts by year."""
    table = any_table(s)
    days = [f for f in table.of_kind("date") if not f.nullable]
    if not days:
        raise NoFit(f"{table.name} has no dates")
    day = s.rng.choice(days)
    said = said_of(s, table, s.rng.choice((0, 1)), avoid=(day,))
    year = Year(column(day))
    query = Query(select=(year, Total("COUNT")), source=table.name, where=where(said), group=(year,))
    return query, {**rows(table, said), "day": s.call(day)}


def different_per_value(s: Speaker) -> Asked:
    """Counts of different values by category."""
    table = any_table(s)
    by = s.category(table)
    others = [f for f in table.fields if f.kind in ("pick", "ref") and f != by]
    if not others:
        raise NoFit(f"{table.name} has one category")
    other = s.rng.choice(others)
    said = said_of(s, table, s.rng.choice((0, 1)), avoid=(by, other))
    query = Query(
        select=(column(by), Total("COUNT", column(other), distinct=True)),
        source=table.name,
        where=where(said),
        group=(column(by),),
    )
    return query, {**rows(table, said), "by": s.call(by), "other": s.call(other)}


def share(s: Speaker) -> Asked:
    """Percentages by category."""
    table = any_table(s)
    by = s.category(table)
    said = s.condition(table, avoid=(by,))
    if not isinstance(said.condition, Compare):
        raise NoFit("no share of what is missing")
    query = Query(select=(column(by), Share(said.condition)), source=table.name, group=(column(by),), where=())
    return query, {**rows(table, []), "by": s.call(by), "holds": said.many}


def any_table(s: Speaker) -> Table:
    """A table of the schema; large ones are asked about more often."""
    tables = list(s.schema.tables.values())
    return s.rng.choices(tables, [1 + table.rows[0] ** 0.5 for table in tables])[0]


def said_of(s: Speaker, table: Table, count: int, avoid: tuple[Field, ...] = ()) -> list[Said]:
    """Conditions on different columns."""
    found: list[Said] = []
    for _ in range(count):
        found.append(s.condition(table, avoid=(*avoid, *(said.field for said in found))))
    return found


def where(said: list[Said]) -> tuple[Condition, ...]:
    """The conditions themselves."""
    return tuple(one.condition for one in said)


def rows(table: Table, said: list[Said]) -> dict[str, object]:
    """The words for rows of a table under conditions."""
    one, many = " and ".join(c.one for c in said), " and ".join(c.many for c in said)
    return {
        "one": table.one,
        "plural": table.many,
        "each": f"each {table.one} {one}".rstrip(),
        "many": f"{table.many} {many}".rstrip(),
    }


def replaced(query: Query, *, limit: int, offset: int = 0) -> Query:
    """The query with a limit."""
    return replace(query, limit=limit, offset=offset)


def direction_of(s: Speaker) -> tuple[bool, str]:
    """Whether high ones come first, in words."""
    down = s.rng.random() < 0.6
    return down, "highest" if down else "lowest"


def _list(s: Speaker, *, columns: int, conditions: int) -> Asked:
    table = any_table(s)
    said = said_of(s, table, conditions)
    shown = s.shown(table, columns, avoid=tuple(one.field for one in said))
    query = Query(select=terms(shown), source=table.name, where=where(said))
    return query, {**rows(table, said), "shown": s.listed(shown)}


def _ordered(s: Speaker, table: Table, said: list[Said]) -> Asked:
    measures = [f for f in table.of_kind("int", "real") if not f.nullable]
    if not measures:
        raise NoFit(f"{table.name} has nothing to sort by")
    measure = s.rng.choice(measures)
    down, words = direction_of(s)
    shown = list(dict.fromkeys([table.naming, *s.shown(table, s.rng.choice((1, 2)))]))[:2]
    query = Query(
        select=terms(shown),
        source=table.name,
        where=where(said),
        order=(Order(column(measure), down), Order(column(table.naming))),
    )
    ties = f"ties by {s.call(table.naming)} in ascending order"
    slots = {"shown": s.listed(shown), "measure": s.call(measure), "direction": words, "ties": ties}
    return query, {**rows(table, said), **slots}


def _grouped(s: Speaker, figure: Total | None) -> Asked:
    table = any_table(s)
    by = s.category(table)
    words = ""
    avoid: tuple[Field, ...] = (by,)
    if figure is None:
        measure = s.measure(table)
        avoid = (by, measure)
        figure, words = s.total(measure)
    said = said_of(s, table, s.rng.choice((0, 1, 1)), avoid=avoid)
    select: tuple[Term, ...] = (column(by), figure)
    query = Query(select=select, source=table.name, where=where(said), group=(Column(table.name, by.name),))
    return query, {**rows(table, said), "by": s.call(by), "total": words}
