"""The world's rows while it is built: plain dictionaries by table, ids from 1 in order of adding."""

from __future__ import annotations

import sqlite3
from typing import Any

Row = dict[str, Any]


class Tables:
    """Rows by table."""

    def __init__(self) -> None:
        self.rows: dict[str, list[Row]] = {}

    def __getitem__(self, table: str) -> list[Row]:
        return self.rows.setdefault(table, [])

    def add(self, table: str, **values: Any) -> Row:
        """A new row with the next id; it may still be changed."""
        rows = self[table]
        row = {"id": len(rows) + 1, **values}
        rows.append(row)
        return row

    def row(self, table: str, row_id: int) -> Row:
        """By id."""
        return self.rows[table][row_id - 1]

    def insert(self, connection: sqlite3.Connection) -> None:
        """Write all of them; every row of a table has the same columns."""
        for table, rows in self.rows.items():
            if rows:
                columns = list(rows[0])
                marks = ", ".join("?" * len(columns))
                connection.executemany(
                    f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})",
                    [[row[column] for column in columns] for row in rows],
                )
