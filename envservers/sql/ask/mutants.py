"""Queries that are nearly right: what a task's databases must tell from its gold query."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

from envservers.sql.ask.query import (
    Among,
    Between,
    Column,
    Compare,
    Condition,
    Either,
    Join,
    Literal,
    Missing,
    Order,
    Query,
    Share,
    Term,
    Total,
    inner_query,
)
from envservers.sql.worlds.schema import Field, Schema

T = TypeVar("T")
FLIPPED = {">": "<", "<": ">", ">=": "<", "<=": ">", "=": "<>", "<>": "="}
EDGE = {">": ">=", "<": "<=", ">=": ">", "<=": "<"}
OTHER_TOTALS = {"AVG": ("MAX", "SUM"), "SUM": ("AVG", "MAX"), "MAX": ("MIN", "AVG"), "MIN": ("MAX", "AVG")}
DENSE = 40
"""Whole numbers of at most so many values: there the edge of a comparison matters."""
OTHERS = 2
"""Other columns that are tried in the place of one."""
INNER = 4
"""Mutants of a query inside the query that are taken."""


def mutants(query: Query, schema: Schema) -> list[Query]:
    """Every mutant once; none reads as the query itself."""
    found = {str(mutant): mutant for mutant in _mutants(query, schema)}
    found.pop(str(query), None)
    return list(found.values())


def _mutants(query: Query, schema: Schema) -> Iterator[Query]:
    for where in _changed(query.where, lambda c: _conditions(c, schema)):
        yield replace(query, where=where)
    for having in _changed(query.having, _having):
        yield replace(query, having=having)
    for joins in _changed(query.joins, lambda j: _joins(j, schema), drop=False):
        yield replace(query, joins=joins)
    for select in _changed(query.select, lambda t: _terms(t, query, schema), drop=False):
        yield replace(query, select=select)
    for order in _changed(query.order, lambda o: [Order(o.by, not o.down)]):
        yield replace(query, order=order)
    yield from _groups(query, schema)
    if query.distinct:
        yield replace(query, distinct=False)
    if query.limit is not None:
        yield replace(query, limit=query.limit + 1)
        if query.limit > 1:
            yield replace(query, limit=query.limit - 1)
        yield replace(query, offset=query.offset + 1)
    if query.offset:
        yield replace(query, offset=query.offset - 1)


def _changed(items: tuple[T, ...], variants: object, *, drop: bool = True) -> Iterator[tuple[T, ...]]:
    """One item left out, or in another variant."""
    assert callable(variants)
    for place, item in enumerate(items):
        before, after = items[:place], items[place + 1 :]
        if drop:
            yield (*before, *after)
        for variant in variants(item):
            yield (*before, variant, *after)


def _conditions(condition: Condition, schema: Schema) -> Iterator[Condition]:
    match condition:
        case Either(first, second):
            yield first
            yield second
            yield from (Either(other, second) for other in list(_conditions(first, schema))[:OTHERS])
            yield from (Either(first, other) for other in list(_conditions(second, schema))[:OTHERS])
        case Between(left, low, high):
            yield Compare(left, ">=", low)
            yield Compare(left, "<=", high)
            yield Between(left, low, _shifted(high))
        case Missing(left, missing):
            yield Missing(left, not missing)
        case Among(left, query, among):
            yield Among(left, query, not among)
            for inner in mutants(query, schema)[:INNER]:
                yield Among(left, inner, among)
        case Compare(left, op, right):
            yield Compare(left, FLIPPED[op], right)
            inner_found = inner_query(condition)
            if inner_found is not None:
                for inner in mutants(inner_found, schema)[:INNER]:
                    yield Compare(left, op, inner)
            elif not isinstance(right, Query | Column):
                yield from _compared(condition, right, schema)


def _compared(condition: Compare, value: Literal, schema: Schema) -> Iterator[Condition]:
    left, op = condition.left, condition.op
    if not isinstance(left, Column):
        assert not isinstance(value, str)
        yield Compare(left, op, value - 1)
        return
    field = schema.tables[left.table].field(left.name)
    if field.kind != "flag":  # there it is the operator turned
        yield Compare(left, op, _other_value(field, value, schema))
    if op in EDGE and field.kind == "int" and field.bounds[1] - field.bounds[0] <= DENSE:
        yield Compare(left, EDGE[op], value)
    for other in _alike(field, schema):
        yield Compare(Column(left.table, other.name), op, value)


def _other_value(field: Field, value: Literal, schema: Schema) -> Literal:
    if field.kind == "pick":
        stored = [v.stored for v in schema.pool(field)]
        return stored[(stored.index(str(value)) + 1) % len(stored)]
    return _shifted(value)


def _shifted(value: Literal) -> Literal:
    if isinstance(value, str):
        year = value[:4]
        return f"{int(year) - 1}{value[4:]}" if year.isdecimal() else value + "x"
    if isinstance(value, float):
        return round(value * 1.25, 2)
    return value + max(1, value // 4) if value < 1400 else value + 6


def _alike(field: Field, schema: Schema) -> list[Field]:
    """Other columns that the condition would make sense of."""
    if field.kind not in ("int", "real", "date", "after"):
        return []
    kinds = ("int", "real") if field.kind in ("int", "real") else ("date", "after")
    return [f for f in schema.tables[field.table].of_kind(*kinds) if f != field][:OTHERS]


def _having(condition: Compare) -> Iterator[Compare]:
    yield Compare(condition.left, FLIPPED[condition.op], condition.right)
    right = condition.right
    if isinstance(condition.left, Total) and isinstance(right, int | float):
        counts = condition.left.function == "COUNT"
        yield Compare(condition.left, condition.op, right + 1 if counts else round(right * 1.2, 2))
        for function in OTHER_TOTALS.get(condition.left.function, ()):
            yield Compare(replace(condition.left, function=function), condition.op, right)


def _joins(join: Join, schema: Schema) -> Iterator[Join]:
    """Joined on the wrong column; inner for outer; without a further condition."""
    table = schema.tables[join.child.table]
    wrong = [f for f in (*table.refs, table.key) if f.name != join.child.name]
    for field in wrong[:2]:
        yield replace(join, child=Column(table.name, field.name))
    if join.down:
        yield replace(join, left=not join.left)
    for on in _changed(join.on, lambda c: _conditions(c, schema)):
        yield replace(join, on=on)


def _terms(term: Term, query: Query, schema: Schema) -> Iterator[Term]:
    """Another aggregate, another column, rows counted where values are meant."""
    match term:
        case Total(function, of, distinct):
            if distinct:
                yield Total(function, of)
            elif function == "COUNT" and of is not None:
                yield Total("COUNT")
            elif function == "COUNT":
                yield from _different(query, schema)
            elif function in OTHER_TOTALS and of is not None:
                yield from (replace(term, function=other) for other in OTHER_TOTALS[function])
                others = schema.tables[of.table].of_kind("int", "real") if of.table in schema.tables else ()
                columns = [Column(of.table, field.name) for field in others if field.name != of.name]
                yield from (replace(term, of=column) for column in columns[:OTHERS])
        case Share(of):
            yield from (Share(other) for other in _conditions(of, schema) if isinstance(other, Compare))
        case Column(table, name) if not query.group and table in schema.tables:
            yield from _other_columns(schema.tables[table].fields, table, name, query.select)


def _other_columns(fields: Sequence[Field], table: str, name: str, taken: Sequence[Term]) -> list[Column]:
    """The next columns of the table that are not shown."""
    found: list[Column] = []
    place = next(i for i, f in enumerate(fields) if f.name == name)
    for field in (*fields[place + 1 :], *fields[:place]):
        if Column(table, field.name) not in taken:
            found.append(Column(table, field.name))
    return found[:OTHERS]


def _different(query: Query, schema: Schema) -> list[Total]:
    """Different values counted where rows are meant."""
    fields = schema.tables[query.source].of_kind("ref", "pick", "flag")
    counted = [Total("COUNT", Column(query.source, field.name), distinct=True) for field in fields]
    return [total for total in counted if total.of not in query.group][:OTHERS]


def _groups(query: Query, schema: Schema) -> Iterator[Query]:
    """Grouped by nothing, or by another category."""
    if query.group:
        yield replace(query, group=(), having=(), order=(), limit=None)
    [by] = query.group if len(query.group) == 1 else (None,)
    if isinstance(by, Column):
        table = schema.tables[by.table]
        if table.field(by.name).kind == "pick":
            others = [Column(by.table, f.name) for f in table.of_kind("pick", "flag") if f.name != by.name]
            for other in others[:OTHERS]:
                select = tuple(other if term == by else term for term in query.select)
                yield replace(query, select=select, group=(other,))
