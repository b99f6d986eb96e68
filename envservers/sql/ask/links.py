"""Questions that go from table to table, or compare rows with others."""

from __future__ import annotations

from envservers.sql.ask.query import Among, Column, Compare, Join, Missing, Order, Query, Total
from envservers.sql.ask.rows import Asked, any_table, direction_of, rows, said_of, where
from envservers.sql.ask.words import NoFit, Said, Speaker, column, terms
from envservers.sql.worlds.schema import Field, Table

OTHER = "other"
"""What a table is called where a query reads it a second time."""


def child_of(s: Speaker) -> Asked:
    """Rows beside the one that they refer to, with a condition on it."""
    ref, table, parent = _ref(s)
    about = s.condition(parent, through=(ref,))
    said = [*said_of(s, table, s.rng.choice((0, 1))), about]
    shown, beside = s.shown(table, 1, avoid=tuple(c.field for c in said)), s.shown(parent, 1, avoid=(about.field,))
    query = Query(select=terms([*shown, *beside]), source=table.name, joins=(_up(s, ref),), where=where(said))
    slots = {"shown": s.listed(shown), "parent_shown": s.listed(beside), "role": ref.says[0]}
    return query, {**rows(table, said), **slots}


def count_child_of(s: Speaker) -> Asked:
    """How many rows refer to one that fits."""
    ref, table, parent = _ref(s)
    said = [*said_of(s, table, s.rng.choice((0, 1))), s.condition(parent, through=(ref,))]
    query = Query(select=(Total("COUNT"),), source=table.name, joins=(_up(s, ref),), where=where(said))
    return query, rows(table, said)


def children_count(s: Speaker) -> Asked:
    """Each parent with how many refer to it."""
    ref, table, parent = _ref(s)
    said = said_of(s, table, s.rng.choice((0, 1, 1)))
    query = Query(
        select=(column(parent.naming), Total("COUNT")),
        source=parent.name,
        joins=(_down(s, ref),),
        where=where(said),
        group=(column(parent.naming),),
    )
    return query, {**_parents(s, ref, parent), "children": _children(ref, said)}


def total_per_parent(s: Speaker) -> Asked:
    """Each parent with an aggregate over what refers to it."""
    ref, table, parent = _ref(s)
    measure = s.measure(table)
    if measure.nullable:
        raise NoFit("whether rows without a figure count is left open")
    total, words = s.total(measure)
    said = said_of(s, table, s.rng.choice((0, 1)), avoid=(measure,))
    query = Query(
        select=(column(parent.naming), total),
        source=parent.name,
        joins=(_down(s, ref),),
        where=where(said),
        group=(column(parent.naming),),
    )
    return query, {**_parents(s, ref, parent), "children": _children(ref, said), "total": words}


def many_children(s: Speaker) -> Asked:
    """Parents that many refer to."""
    ref, table, parent = _ref(s)
    said = said_of(s, table, s.rng.choice((0, 1)))
    mean = sum(table.rows) / sum(parent.rows) * (0.4 if said else 1)
    least = max(2, round(mean * s.rng.uniform(0.8, 1.7)))
    query = Query(
        select=(column(parent.naming),),
        source=parent.name,
        joins=(_down(s, ref),),
        where=where(said),
        group=(column(parent.naming),),
        having=(Compare(Total("COUNT"), ">=", least),),
    )
    return query, {**_parents(s, ref, parent), "children": _children(ref, said), "least": least}


def most_children(s: Speaker) -> Asked:
    """The parents that most refer to, in order."""
    ref, table, parent = _ref(s)
    said = said_of(s, table, s.rng.choice((0, 1)))
    limit = s.rng.randint(2, 6)
    name, count = column(parent.naming), Total("COUNT")
    query = Query(
        select=(name, count),
        source=parent.name,
        joins=(_down(s, ref),),
        where=where(said),
        group=(name,),
        order=(Order(count, down=True), Order(name)),
        limit=limit,
    )
    ties = f"ties by {s.call(parent.naming)} in ascending order"
    return query, {**_parents(s, ref, parent), "children": _children(ref, said), "limit": limit, "ties": ties}


def all_counts(s: Speaker) -> Asked:
    """Every parent with how many refer to it, also none."""
    ref, table, parent = _ref(s)
    said = said_of(s, table, s.rng.choice((0, 1, 1)))
    query = Query(
        select=(column(parent.naming), Total("COUNT", column(table.key))),
        source=parent.name,
        joins=(_down(s, ref, left=True, on=said),),
        group=(column(parent.naming),),
    )
    return query, {**_parents(s, ref, parent), "children": _children(ref, said)}


def total_having(s: Speaker) -> Asked:
    """Parents by an aggregate over what refers to them."""
    ref, table, parent = _ref(s)
    measure = s.measure(table)
    if measure.nullable:
        raise NoFit("whether rows without a figure count is left open")
    total, words = s.total(measure)
    said = said_of(s, table, s.rng.choice((0, 1)), avoid=(measure,))
    bound: float = {"AVG": s.bound(measure, 0.25, 0.55), "MAX": s.bound(measure, 0.6, 0.9)}.get(
        total.function, s.bound(measure, 0.05, 0.3)
    )
    if total.function == "SUM":
        bound = round(bound * max(1, round(sum(table.rows) / sum(parent.rows) * (1 if said else 2))), 1)
    above = s.rng.random() < 0.6
    query = Query(
        select=(column(parent.naming),),
        source=parent.name,
        joins=(_down(s, ref),),
        where=where(said),
        group=(column(parent.naming),),
        having=(Compare(total, ">" if above else "<", bound),),
    )
    slots = {"total": words, "be": s.be(measure), "side": "above" if above else "below", "bound": bound}
    return query, {**_parents(s, ref, parent), "children": _children(ref, said), **slots}


def above_average(s: Speaker) -> Asked:
    """Rows beside the average of all."""
    table = any_table(s)
    measure = s.measure(table)
    above = s.rng.random() < 0.6
    shown = s.shown(table, s.rng.choice((1, 2)))
    mean = Query(select=(Total("AVG", column(measure)),), source=table.name)
    where_ = (Compare(column(measure), ">" if above else "<", mean),)
    query = Query(select=terms(shown), source=table.name, where=where_)
    slots = {"shown": s.listed(shown), "measure": s.call(measure), "be": s.be(measure)}
    return query, {**rows(table, []), **slots, "side": "above" if above else "below"}


def above_own(s: Speaker) -> Asked:
    """Rows beside the average of their own category."""
    table = any_table(s)
    measure, by = s.measure(table), s.category(table)
    said = said_of(s, table, s.rng.choice((0, 1)), avoid=(measure, by))
    above = s.rng.random() < 0.6
    shown = s.shown(table, s.rng.choice((1, 2)))
    mean = Query(
        select=(Total("AVG", Column(OTHER, measure.name)),),
        source=table.name,
        called=OTHER,
        where=(Compare(Column(OTHER, by.name), "=", column(by)),),
    )
    conditions = (Compare(column(measure), ">" if above else "<", mean), *where(said))
    query = Query(select=terms(shown), source=table.name, where=conditions)
    slots = {"shown": s.listed(shown), "measure": s.call(measure), "be": s.be(measure), "by": s.call(by)}
    return query, {**rows(table, said), **slots, "side": "above" if above else "below"}


def best_child(s: Speaker) -> Asked:
    """The first of those that refer to each parent."""
    ref, table, parent = _ref(s)
    measure = s.measure(table)
    shown = s.shown(table, 1, avoid=(measure,))
    down, words = direction_of(s)
    best = Query(
        select=(Total("MAX" if down else "MIN", Column(OTHER, measure.name)),),
        source=table.name,
        called=OTHER,
        where=(Compare(Column(OTHER, ref.name), "=", column(ref)),),
    )
    query = Query(
        select=terms([parent.naming, *shown, measure]),
        source=table.name,
        joins=(_up(s, ref),),
        where=(Compare(column(measure), "=", best),),
    )
    slots = {"shown": s.listed(shown), "measure": s.call(measure), "direction": words, "role": ref.says[0]}
    return query, {**_parents(s, ref, parent), **slots, "children": ref.says[1]}


def childless(s: Speaker) -> Asked:
    """Parents that nothing refers to."""
    ref, table, parent = _ref(s)
    said = said_of(s, table, s.rng.choice((0, 1, 1)))
    extra = said_of(s, parent, s.rng.choice((0, 0, 1)))
    query = Query(
        select=(column(parent.naming),),
        source=parent.name,
        where=(*where(extra), Among(column(parent.key), _keys(ref, said), among=False)),
    )
    slots = _parents(s, ref, parent, extra)
    return query, {**slots, "children": _children(ref, said)}


def with_child(s: Speaker) -> Asked:
    """Parents that something refers to, each once."""
    ref, table, parent = _ref(s)
    said = said_of(s, table, s.rng.choice((1, 2)))
    query = Query(
        select=(column(parent.naming),), source=parent.name, where=(Among(column(parent.key), _keys(ref, said)),)
    )
    return query, {**_parents(s, ref, parent), "children": _children(ref, said)}


def both_children(s: Speaker) -> Asked:
    """Parents with children of two sorts."""
    return _two_sorts(s, second=True)


def but_not(s: Speaker) -> Asked:
    """Parents with children of one sort and none of another."""
    return _two_sorts(s, second=False)


def two_hop(s: Speaker) -> Asked:
    """Rows by what the row that they refer to refers to."""
    first, second, table, _, grand = _path(s)
    said = [*said_of(s, table, s.rng.choice((0, 1, 1))), s.condition(grand, through=(first, second))]
    shown = s.shown(table, s.rng.choice((1, 2)), avoid=tuple(c.field for c in said))
    joins = (_up(s, first), _up(s, second))
    query = Query(select=terms(shown), source=table.name, joins=joins, where=where(said))
    return query, {**rows(table, said), "shown": s.listed(shown)}


def grand_total(s: Speaker) -> Asked:
    """Figures by what the row that they refer to refers to."""
    first, second, table, _, grand = _path(s)
    total, words = Total("COUNT"), "number"
    avoid: tuple[Field, ...] = ()
    if s.rng.random() < 0.75:
        measure = s.measure(table)
        if measure.nullable:
            raise NoFit("whether rows without a figure count is left open")
        total, words = s.total(measure)
        avoid = (measure,)
    said = said_of(s, table, s.rng.choice((0, 1)), avoid=avoid)
    query = Query(
        select=(column(grand.naming), total),
        source=table.name,
        joins=(_up(s, first), _up(s, second)),
        where=where(said),
        group=(column(grand.naming),),
    )
    slots = {"grand": second.says[0], "grand_shown": s.call(grand.naming), "role": first.says[0], "total": words}
    return query, {**rows(table, said), **slots}


def _two_sorts(s: Speaker, *, second: bool) -> Asked:
    ref, table, parent = _ref(s)
    one, other = s.condition(table), s.condition(table)
    if one.condition == other.condition:
        raise NoFit("twice the same")
    if not second and one.field == other.field and one.field.kind == "flag":
        raise NoFit("a flag and its opposite read badly")
    key = column(parent.key)
    query = Query(
        select=(column(parent.naming),),
        source=parent.name,
        where=(Among(key, _keys(ref, [one])), Among(key, _keys(ref, [other]), among=second)),
    )
    children = {"first": _children(ref, [one]), "second": _children(ref, [other])}
    return query, {**_parents(s, ref, parent), **children}


def _ref(s: Speaker) -> tuple[Field, Table, Table]:
    """A reference, whose it is, and what it refers to."""
    tables = s.schema.tables
    ref = s.rng.choice([ref for table in tables.values() for ref in table.refs])
    return ref, tables[ref.table], tables[ref.parent]


def _path(s: Speaker) -> tuple[Field, Field, Table, Table, Table]:
    """Two references in a row, and the three tables."""
    first, table, middle = _ref(s)
    if not middle.refs:
        raise NoFit(f"{middle.name} refers to nothing")
    second = s.rng.choice(middle.refs)
    grand = s.schema.tables[second.parent]
    if grand.name in (table.name, middle.name):
        raise NoFit("the path comes back")
    return first, second, table, middle, grand


def _up(s: Speaker, ref: Field) -> Join:
    return Join(column(ref), column(s.schema.tables[ref.parent].key))


def _down(s: Speaker, ref: Field, *, left: bool = False, on: list[Said] | None = None) -> Join:
    parent = s.schema.tables[ref.parent]
    return Join(column(ref), column(parent.key), down=True, left=left, on=where(on or []))


def _keys(ref: Field, said: list[Said]) -> Query:
    """The keys that rows refer to; without the rows that refer to none, which would make NOT IN say nothing."""
    present = (Missing(column(ref), missing=False),) if ref.nullable else ()
    return Query(select=(column(ref),), source=ref.table, where=(*where(said), *present))


def _children(ref: Field, said: list[Said]) -> str:
    return f"{ref.says[1]} {' and '.join(c.many for c in said)}".rstrip()


def _parents(s: Speaker, ref: Field, parent: Table, said: list[Said] | None = None) -> dict[str, object]:
    words = rows(parent, said or [])
    return {
        "parent": str(words["each"]).removeprefix("each "),
        "parents": words["many"],
        "parent_shown": s.call(parent.naming),
    }
