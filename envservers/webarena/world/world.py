"""Reading a world, for what tasks expect. Knows no site."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

Value = str | int | float | None


class World:
    """One world's tables, read-only."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._connection = sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True, check_same_thread=False)
        self._connection.row_factory = sqlite3.Row
        row = self.row("SELECT seed, size, version, starts_at FROM world")
        self.seed: int = row["seed"]
        self.size: str = row["size"]
        self.version: str = row["version"]
        self.starts_at: str = row["starts_at"]
        """Session time at step 0."""

    def rows(self, sql: str, *values: Value) -> list[sqlite3.Row]:
        """Every row; end the ORDER BY with a unique column, so that the order is fixed."""
        return self._connection.execute(sql, values).fetchall()

    def row(self, sql: str, *values: Value) -> sqlite3.Row:
        """The first row; LookupError without any."""
        found: sqlite3.Row | None = self._connection.execute(sql, values).fetchone()
        if found is None:
            raise LookupError(f"no row for {sql!r} with {values!r}")
        return found

    def value(self, sql: str, *values: Value) -> Any:
        """The first column of the first row, None without any."""
        found = self._connection.execute(sql, values).fetchone()
        return None if found is None else found[0]

    def column(self, sql: str, *values: Value) -> list[Any]:
        """The first column of every row."""
        return [row[0] for row in self.rows(sql, *values)]

    def close(self) -> None:
        """Close the file."""
        self._connection.close()
