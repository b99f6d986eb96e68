"""A session's database: reads go to the world's file until the first write, which copies it."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

Value = str | int | float | None
Row = sqlite3.Row


class Db:
    """SQLite for one session. Used by one thread at a time.

    `scratch` is what a session keeps that is no data of the shop: log-ins, carts of guests' browsers, messages shown
    once, drafts of refused forms, used form tokens. JSON values only; it is no part of the difference.
    """

    def __init__(self, base: Path, copy: Path) -> None:
        self.base = base
        self.copy = copy
        """Where the copy goes; it exists only after a write."""
        self.scratch: dict[str, Any] = {}
        self.writes = 0
        """Statements that wrote; orders rows of one moment."""
        self._connection = _open_base(base)
        self._copied = False

    @property
    def written(self) -> bool:
        """Whether there was a write."""
        return self._copied

    def all(self, sql: str, *values: Value) -> list[Row]:
        """Every row."""
        return self._connection.execute(sql, values).fetchall()

    def one(self, sql: str, *values: Value) -> Row | None:
        """The first row, None without any."""
        row: Row | None = self._connection.execute(sql, values).fetchone()
        return row

    def value(self, sql: str, *values: Value) -> Any:
        """The first column of the first row, None without any."""
        row = self.one(sql, *values)
        return None if row is None else row[0]

    def write(self, sql: str, *values: Value) -> int:
        """Run one INSERT, UPDATE or DELETE; the id of the inserted row."""
        if not self._copied:
            self._copy()
        self.writes += 1
        cursor = self._connection.execute(sql, values)
        return cursor.lastrowid or 0

    def write_many(self, sql: str, rows: Sequence[Sequence[Value]]) -> None:
        """One statement for many rows."""
        for row in rows:
            self.write(sql, *row)

    def close(self) -> None:
        """Close, and remove the copy."""
        self._connection.close()
        if self._copied:
            self.copy.unlink(missing_ok=True)
            self._copied = False

    def _copy(self) -> None:
        self._connection.close()
        self.copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(self.base, self.copy)
        self._connection = _open_copy(self.copy)
        self._copied = True


def _open_base(path: Path) -> sqlite3.Connection:
    return _set_up(sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True, check_same_thread=False))


def _open_copy(path: Path) -> sqlite3.Connection:
    connection = _set_up(sqlite3.connect(path, isolation_level=None, check_same_thread=False))
    connection.execute("PRAGMA journal_mode=MEMORY")
    connection.execute("PRAGMA synchronous=OFF")
    connection.execute("PRAGMA foreign_keys=ON")
    return connection


def _set_up(connection: sqlite3.Connection) -> sqlite3.Connection:
    connection.row_factory = sqlite3.Row
    connection.execute("PRAGMA cache_size=-512")  # KiB
    return connection
