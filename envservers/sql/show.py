"""What an agent is shown: tables with their columns, and results within bounds."""

from __future__ import annotations

import functools
import sqlite3
from collections.abc import Mapping
from pathlib import Path

from envservers.sql.guard import Cell, Result, Row
from envservers.sql.worlds.schema import schema

MAX_TEXT = 8_000
"""Characters of a result."""
MAX_CELL = 200
"""Characters of one value."""
MAX_COLUMNS = 40
VALUES = 8
"""Values of a column that are listed; of more, the first few stand as examples."""
EXAMPLES = 3


def result_text(result: Result, limit: int) -> str:
    """Column names, the first rows, and how many there are; texts as SQL writes them, so that NULL is no text."""
    names = " | ".join(map(_short, result.columns[:MAX_COLUMNS]))
    lines: list[str] = []
    room = MAX_TEXT - len(names) - 100
    for row in result.rows[:limit]:
        line = _line(row)
        room -= len(line) + 1
        if room < 0:
            break
        lines.append(line)
    count = len(result.rows)
    told = f"({count} row{'' if count == 1 else 's'}"
    told += f", the first {len(lines)} shown" if len(lines) < count else ""
    more = len(result.columns) - MAX_COLUMNS
    told += f"; {more} more columns not shown" if more > 0 else ""
    return "\n".join([names, *lines, f"{told})"])


def cell_text(cell: Cell) -> str:
    """A value as SQL writes it; a long one is cut and says by how much."""
    if cell is None:
        return "NULL"
    if isinstance(cell, bytes):
        more = f" (and {len(cell) - MAX_CELL // 2:,} bytes more)" if len(cell) > MAX_CELL // 2 else ""
        return f"x'{cell[: MAX_CELL // 2].hex()}'{more}"
    if isinstance(cell, str):
        more = f" (and {len(cell) - MAX_CELL:,} characters more)" if len(cell) > MAX_CELL else ""
        text = cell[:MAX_CELL].replace("'", "''").replace("\n", "\\n").replace("\r", "\\r")
        return f"'{text}'{more}"
    return repr(cell)


def _line(row: Row) -> str:
    return " | ".join(map(cell_text, row[:MAX_COLUMNS]))


def _short(name: str) -> str:
    return name if len(name) <= 60 else f"{name[:60]}..."


@functools.lru_cache(maxsize=128)
def tables_of(path: Path) -> Mapping[str, str]:
    """Each table of a file with a line about it: columns with types, keys."""
    connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro&immutable=1", uri=True)
    try:
        connection.text_factory = lambda data: data.decode("utf-8", "replace")
        found = connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND substr(name, 1, 7) <> 'sqlite_' ORDER BY rowid"
        )
        return {name: _table_text(connection, name) for (name,) in found.fetchall()}
    finally:
        connection.close()


def _table_text(connection: sqlite3.Connection, name: str) -> str:
    columns = connection.execute("SELECT name, type, pk FROM pragma_table_info(?)", (name,)).fetchall()
    links = connection.execute(
        'SELECT "from", "table", "to" FROM pragma_foreign_key_list(?) ORDER BY id DESC, seq', (name,)
    ).fetchall()
    text = f"Table {name}: {', '.join(f'{column} {kind}'.rstrip() for column, kind, _ in columns)}."
    keys = [column for column, _, place in sorted(columns, key=lambda c: c[2]) if place]
    if keys:
        text += f" Primary key: {', '.join(keys)}."
    for column, other, to in links:
        text += f" {column} refers to {other}{f'.{to}' if to else ''}."
    return text


@functools.cache
def values_of(name: str) -> Mapping[str, str]:
    """What the columns of a schema's categories hold, by table: one query could not know how values are spelled."""
    known, found = schema(name), {}
    for table in known.tables.values():
        texts = []
        for field in table.of_kind("pick"):
            values = [cell_text(value.stored) for value in known.pool(field)]
            some = values if len(values) <= VALUES else [*values[:EXAMPLES], "and others"]
            texts.append(f" {field.name} holds {', '.join(some)}.")
        found[table.name] = "".join(texts)
    return found
