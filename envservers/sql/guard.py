"""Queries of strangers on SQLite files: read-only, bounded, and with nothing in them that differs from run to run.

- A file is opened `mode=ro` and `immutable=1`; only reading passes the authorizer: no `ATTACH`, no `PRAGMA`.
- Work is bounded by instructions of SQLite's virtual machine, never by seconds; so are texts, rows and their bytes.
  What sorts or compares rows keeps them in temporary files, some 250 MB with texts of our own databases' bound; over
  files of others, with their long texts, a query is broken off before the disk is full, as no fault of the query.
- `random()` and all that depends on the clock, the time zone or the connection's past is denied. The functions of
  date and time are SQLite's own, asked through a gate that refuses `now`.
"""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from agentenv.errors import EnvFailed

Cell = str | int | float | bytes | None
Row = tuple[Cell, ...]

INSTRUCTIONS = 5_000_000
"""Of SQLite's virtual machine, for one query."""
STRIDE = 1_000
"""Instructions between two looks at the count."""
MAX_SQL = 10_000
"""Characters of a query."""
MAX_ROWS = 10_000
MAX_BYTES = 4_000_000
"""Of a whole result."""
MAX_CELL = 1_000
"""Bytes of a text, and of a row that is sorted, while a query works; files that others made get MAX_CELL_OF_FILES."""
MAX_CELL_OF_FILES = 1_000_000
LEAST_FREE = 2_000_000_000
"""Bytes of disk that a query over files of others leaves."""

_ALLOWED = (
    "abs avg ceil ceiling char coalesce count cume_dist dense_rank exp first_value floor format glob "
    "group_concat hex ifnull iif instr lag last_value lead length like likelihood likely ln log log10 "
    "log2 lower ltrim max min mod nth_value ntile nullif percent_rank pi pow power printf quote rank "
    "replace round row_number rtrim sign sqrt substr substring sum total trim trunc typeof unicode "
    "unlikely upper date time datetime julianday strftime unixepoch "
)
FUNCTIONS = frozenset(_ALLOWED.split())
"""What a query may call; all else is denied."""
CLOCK = ("date", "time", "datetime", "julianday", "strftime", "unixepoch")
UNSTABLE = frozenset({"now", "localtime", "utc"})
_ACTIONS = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_RECURSIVE})
_OPAQUE = re.compile(r"pragma_.*|dbstat|sqlite_(?!schema|master).*|bytecode|tables_used|fts.*", re.IGNORECASE)
_LIMITS = {
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 4 * MAX_SQL,
    sqlite3.SQLITE_LIMIT_COLUMN: 200,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 200,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 50,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 200,
    sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER: 0,
    sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH: 1,
    sqlite3.SQLITE_LIMIT_WORKER_THREADS: 0,
}
_COMMENTS = re.compile(r"(?:\s+|--[^\n]*(?:\n|\Z)|/\*.*?(?:\*/|\Z))+", re.DOTALL)
_READS = re.compile(r"(select|with|values)\b", re.IGNORECASE)


class Refused(Exception):
    """A query that was not carried out, or not to its end; the text is for whoever wrote it."""


@dataclass(frozen=True, slots=True)
class Result:
    """All rows of a query."""

    columns: tuple[str, ...]
    rows: tuple[Row, ...]


def checked(sql: str) -> str:
    """The query, if it is one that reads; Refused says what is wrong."""
    text = sql.strip()
    if len(text) > MAX_SQL:
        raise Refused(f"the query is longer than {MAX_SQL:,} characters")
    if "\0" in text or not _encodes(text):
        raise Refused("the query has a character that is none")
    start = _COMMENTS.match(text)
    body = text[start.end() :] if start else text
    if not body.strip("; \n\t"):
        raise Refused("the query is empty")
    if not _READS.match(body):
        raise Refused("only a SELECT query is allowed")
    return text


class Reader:
    """One connection to one file. Not for two threads at once."""

    def __init__(self, path: Path, *, foreign: bool = False) -> None:
        """`foreign`: a file that others made, with longer texts and perhaps broken ones."""
        uri = f"{path.resolve().as_uri()}?mode=ro&immutable=1"
        self._connection = sqlite3.connect(uri, uri=True, check_same_thread=False, isolation_level=None)
        self._left = 0
        self._denied = ""
        self._spills = _temporary_folder() if foreign else None
        self._full = False
        connection = self._connection
        if foreign:
            connection.text_factory = _text
        limits = {**_LIMITS, sqlite3.SQLITE_LIMIT_LENGTH: MAX_CELL_OF_FILES if foreign else MAX_CELL}
        for limit, value in limits.items():
            connection.setlimit(limit, value)
        self._clock = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
        for name in CLOCK:
            connection.create_function(name, -1, self._gate(name), deterministic=True)
        connection.set_authorizer(self._authorize)
        connection.set_progress_handler(self._progress, STRIDE)

    def run(self, sql: str, *, most_rows: int = MAX_ROWS) -> Result:
        """Every row of a query; Refused where it fails, is not allowed, or is too much."""
        text = checked(sql)
        self._left, self._denied, self._full = INSTRUCTIONS, "", False
        try:
            cursor = self._connection.execute(text)
            try:
                if cursor.description is None:
                    raise Refused("the query gives no result")
                return Result(tuple(column[0] for column in cursor.description), self._fetched(cursor, most_rows))
            finally:
                cursor.close()
        except (sqlite3.Error, sqlite3.Warning, OverflowError, MemoryError) as error:
            if self._full:
                raise EnvFailed(f"less than {LEAST_FREE:,} bytes are free in {self._spills}") from None
            raise Refused(self._reason(error)) from None

    def close(self) -> None:
        """Free the connection."""
        self._connection.close()
        self._clock.close()

    def _fetched(self, cursor: sqlite3.Cursor, most_rows: int) -> tuple[Row, ...]:
        rows: list[Row] = []
        size = 0
        for row in cursor:
            rows.append(row)
            size += sum(len(cell) if isinstance(cell, str | bytes) else 8 for cell in row)
            if len(rows) > most_rows:
                raise Refused(f"the result has more than {most_rows:,} rows")
            if size > MAX_BYTES:
                raise Refused(f"the result is larger than {MAX_BYTES:,} bytes")
        return tuple(rows)

    def _reason(self, error: BaseException) -> str:
        if self._left <= 0:
            return f"the query takes more than {INSTRUCTIONS:,} instructions"
        if self._denied:
            return self._denied
        text = str(error).strip()
        return "only one query at a time" if "one statement" in text else text or type(error).__name__

    def _progress(self) -> int:
        self._left -= STRIDE
        self._full = self._spills is not None and shutil.disk_usage(self._spills).free < LEAST_FREE
        return int(self._left <= 0 or self._full)

    def _authorize(self, action: int, first: str | None, second: str | None, *_: object) -> int:
        if action == sqlite3.SQLITE_FUNCTION:
            allowed = (second or "").lower() in FUNCTIONS
            self._denied = self._denied if allowed else f"the function {second} is not allowed"
        elif action in _ACTIONS:
            allowed = action != sqlite3.SQLITE_READ or not _OPAQUE.fullmatch(first or "")
            self._denied = self._denied if allowed else f"no such table: {first}"
        else:
            allowed = False
            self._denied = "only reading is allowed"
        return sqlite3.SQLITE_OK if allowed else sqlite3.SQLITE_DENY

    def _gate(self, name: str) -> Callable[..., Cell]:
        """SQLite's own function of date or time, for stated times alone."""

        def call(*values: Cell) -> Cell:
            stated = len(values) > (name == "strftime")
            if not stated or any(isinstance(v, str) and v.strip().lower() in UNSTABLE for v in values):
                self._denied = f"{name}() needs a stated time: the clock is not allowed"
                raise ValueError
            marks = ", ".join("?" * len(values))
            found: Cell = self._clock.execute(f"SELECT {name}({marks})", values).fetchone()[0]
            return found

        return call


def _temporary_folder() -> str:
    """Where SQLite keeps what does not fit into its memory."""
    named = (os.environ.get("SQLITE_TMPDIR"), os.environ.get("TMPDIR"), "/var/tmp", "/usr/tmp", "/tmp")
    return next((folder for folder in named if folder and os.path.isdir(folder)), ".")


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _encodes(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
