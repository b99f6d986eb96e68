"""What a session changed: rows inserted, updated and deleted against the world."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from envservers.webarena.state.database import Db

Cell = str | int | float | bytes | None
Cells = Mapping[str, Cell]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One row. `before` is None for an insert, `after` for a delete; both are whole rows."""

    table: str
    kind: Literal["insert", "update", "delete"]
    id: int
    before: Cells | None
    after: Cells | None

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that differ; of an insert or delete, all."""
        before, after = self.before or {}, self.after or {}
        return tuple(name for name in (after or before) if name not in before or after.get(name) != before[name])


def changes_of(db: Db) -> tuple[Change, ...]:
    """Every change, by table in alphabetical order, then kind, then id. Free while nothing was written.

    Tables of SQLite and of the search index do not count.
    """
    if not db.written:
        return ()
    with _base_of(db) as connection:
        tables = [(table, columns) for table, columns in _tables(connection) if table in db.touched]
        return tuple(change for table, columns in tables for change in _changes(connection, table, columns))


def _changes(connection: sqlite3.Connection, table: str, columns: tuple[str, ...]) -> Iterator[Change]:
    updated = []
    for cells in connection.execute(_differing(table, columns)):
        after = dict(zip(columns, cells[: len(columns)], strict=True))
        before = dict(zip(columns, cells[len(columns) :], strict=True))
        if before["id"] is None:
            yield Change(table=table, kind="insert", id=after["id"], before=None, after=after)
        else:
            updated.append(Change(table=table, kind="update", id=after["id"], before=before, after=after))
    yield from updated
    gone = f"SELECT * FROM base.{table} WHERE id NOT IN (SELECT id FROM main.{table}) ORDER BY id"
    for cells in connection.execute(gone):
        before = dict(zip(columns, cells, strict=True))
        yield Change(table=table, kind="delete", id=before["id"], before=before, after=None)


@lru_cache(maxsize=256)
def _differing(table: str, columns: tuple[str, ...]) -> str:
    """Rows that are new or differ, each beside its counterpart: one walk over both tables in order of id."""
    now = ", ".join(f"now.{column}" for column in columns)
    was = ", ".join(f"was.{column}" for column in columns)
    return (
        f"SELECT {now}, {was} FROM main.{table} AS now LEFT JOIN base.{table} AS was ON was.id = now.id "
        f"WHERE ({now}) IS NOT ({was}) ORDER BY now.id"
    )


def _tables(connection: sqlite3.Connection) -> list[tuple[str, tuple[str, ...]]]:
    """Ordinary tables by name, with their columns."""
    found = connection.execute(
        "SELECT t.name, c.name FROM main.sqlite_schema AS t JOIN pragma_table_info(t.name) AS c "
        "WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite!_%' ESCAPE '!' "
        "AND t.name NOT LIKE '%!_search%' ESCAPE '!' ORDER BY t.name, c.cid"
    )
    tables: dict[str, list[str]] = {}
    for table, column in found:
        tables.setdefault(table, []).append(column)
    return [(table, tuple(columns)) for table, columns in tables.items()]


@contextmanager
def _base_of(db: Db) -> Iterator[sqlite3.Connection]:
    """The session's connection with the world attached as `base`."""
    connection = db.connection
    connection.execute("ATTACH ? AS base", (f"{db.base.as_uri()}?mode=ro&immutable=1",))
    try:
        yield connection
    finally:
        connection.execute("DETACH base")
