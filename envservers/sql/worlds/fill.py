"""The rows of a database, from its schema and a seed alone.

What rows are called (people, titles, places) is the same set in every database of a schema; which row has which name,
and all else, is drawn anew with the seed. So a question that names something makes sense in every database, and its
answer differs.
"""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Sequence
from datetime import date, timedelta
from typing import Any, TypeVar

from envservers.sql.worlds.schema import Field, Schema, Table

T = TypeVar("T")
Cell = str | int | float | None
NULLS = 0.12
"""Share of rows without a value, of columns that may lack one."""
CHILDLESS = 0.15
"""Share of parents that no row refers to, by each reference."""
FLAGGED = 0.35
"""Share of rows of which a flag holds."""


def write_database(path: str, schema: Schema, seed: int) -> None:
    """A new SQLite file with all tables filled."""
    made: dict[str, list[tuple[Cell, ...]]] = {}
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        connection.execute("PRAGMA journal_mode = OFF")
        connection.execute("BEGIN")
        for table in schema.tables.values():
            made[table.name] = rows_of(schema, table, seed, {name: len(rows) for name, rows in made.items()})
            connection.execute(create_table(table, schema))
            marks = ", ".join("?" * len(table.fields))
            connection.executemany(f"INSERT INTO {table.name} VALUES ({marks})", made[table.name])
            for field in table.of_kind("ref", "pick"):
                connection.execute(f"CREATE INDEX {table.name}_{field.name} ON {table.name} ({field.name})")
        connection.execute("COMMIT")
    finally:
        connection.close()


def create_table(table: Table, schema: Schema) -> str:
    """The statement that makes a table."""
    lines = []
    for field in table.fields:
        line = f"{field.name} {field.type}"
        line += " PRIMARY KEY" if field.kind == "key" else "" if field.nullable else " NOT NULL"
        if field.kind == "ref":
            line += f" REFERENCES {field.parent} ({schema.tables[field.parent].key.name})"
        lines.append(line)
    return f"CREATE TABLE {table.name} ({', '.join(lines)})"


def rows_of(schema: Schema, table: Table, seed: int, counts: dict[str, int]) -> list[tuple[Cell, ...]]:
    """The rows of a table; `counts` is how many rows the tables before it have."""
    count = random.Random(f"rows {schema.name} {table.name} {seed}").randint(*table.rows)
    columns: dict[str, list[Cell]] = {}
    for field in table.fields:
        rng = random.Random(f"cells {schema.name} {table.name} {field.name} {seed}")
        cells = _cells(schema, field, count, rng, counts, columns)
        if field.nullable and field.kind != "after":
            cells = [None if rng.random() < NULLS else cell for cell in cells]
        columns[field.name] = cells
    return list(zip(*columns.values(), strict=True))


def _cells(
    schema: Schema,
    field: Field,
    count: int,
    rng: random.Random,
    counts: dict[str, int],
    before: dict[str, list[Cell]],
) -> list[Cell]:
    match field.kind:
        case "key":
            return list(range(1, count + 1))
        case "ref":
            return _references(counts[field.parent], count, rng)
        case "person" | "label" | "word":
            return [*_shuffled(names(schema, field)[:count], rng)]
        case "code":
            return [f"{field.args[0]}-{number}" for number in rng.sample(range(1000, 10_000), count)]
        case "pick":
            values = [value.stored for value in schema.pool(field)]
            weights = _shuffled([1 / (place + 1) ** 0.6 for place in range(len(values))], rng)
            return list(rng.choices(values, weights, k=count))
        case "int" | "real" | "mark":
            return [_number(field, rng) for _ in range(count)]
        case "date":
            first, last = (int(year) for year in field.args)
            days = (date(last + 1, 1, 1) - date(first, 1, 1)).days
            return [_day(date(first, 1, 1), rng.randrange(days)) for _ in range(count)]
        case "after":
            return [_later(start, field, rng) for start in before[field.args[0]]]
        case "flag":
            return [int(rng.random() < FLAGGED) for _ in range(count)]
    raise ValueError(f"{schema.name}.{field.table}.{field.name}: no kind {field.kind!r}")


def names(schema: Schema, field: Field) -> list[str]:
    """What rows of a table may be called, in the schema's own order: databases take as many as they have rows."""
    values = [value.stored for value in schema.pool(field)]
    random.Random(f"names {schema.name} {field.table}").shuffle(values)
    return values


def _references(parents: int, count: int, rng: random.Random) -> list[Cell]:
    """Some parents have many children, some have none."""
    keys = _shuffled(list(range(1, parents + 1)), rng)
    keys = keys[: max(2, parents - max(1, round(CHILDLESS * parents)))]
    return [keys[int(len(keys) * rng.random() ** 1.5)] for _ in range(count)]


def _number(field: Field, rng: random.Random) -> Cell:
    low, high = field.bounds
    if field.kind == "mark" or (field.kind == "int" and high - low < 300):
        return rng.randint(int(low), int(high))
    drawn: float = low + (high - low) * rng.random() ** 1.6
    if field.kind == "int":
        return round(drawn)
    return round(drawn, int(field.args[2]) if len(field.args) > 2 else 2)


def _later(start: Any, field: Field, rng: random.Random) -> Cell:
    if start is None or (field.nullable and rng.random() < NULLS):
        return None
    return _day(date.fromisoformat(start), rng.randint(int(field.args[1]), int(field.args[2])))


def _day(start: date, days: int) -> str:
    return (start + timedelta(days=days)).isoformat()


def _shuffled(values: Sequence[T], rng: random.Random) -> list[T]:
    mixed = list(values)
    rng.shuffle(mixed)
    return mixed
