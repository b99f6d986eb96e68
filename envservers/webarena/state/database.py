"""A session's database: reads go to the world's file until the first write, which copies it."""

from __future__ import annotations

import copy as copying
import itertools
import shutil
import sqlite3
import weakref
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

Value = str | int | float | None
Row = sqlite3.Row

_WRITING = frozenset({sqlite3.SQLITE_INSERT, sqlite3.SQLITE_UPDATE, sqlite3.SQLITE_DELETE})
_FICLONE = 0x40049409  # ioctl of Linux: the copy shares its blocks with the original until one of them changes


class Snapshot:
    """A state of a session's database, for `Db.restore`. Its file goes with it."""

    def __init__(self, db: Db, file: Path | None) -> None:
        self.base = db.base
        self.file = file
        """None when nothing was written."""
        self.scratch = copying.deepcopy(db.scratch)
        self.writes = db.writes
        self.touched = frozenset(db.touched)
        if file is not None:
            weakref.finalize(self, file.unlink, missing_ok=True)


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
        self.touched: set[str] = set()
        """Tables that a statement may have written, by foreign keys too; no other can differ from the world's."""
        self._snapshots = itertools.count(1)
        self._connection = _open_base(base)
        self._copied = False

    @property
    def written(self) -> bool:
        """Whether there was a write."""
        return self._copied

    @property
    def connection(self) -> sqlite3.Connection:
        """For the modules of `state`; sites use the methods."""
        return self._connection

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
        """Run one INSERT, UPDATE or DELETE; the id of the inserted row. Foreign keys are enforced."""
        if not self._copied:
            self._copy(self.base)
        self.writes += 1
        cursor = self._connection.execute(sql, values)
        return cursor.lastrowid or 0

    def write_many(self, sql: str, rows: Sequence[Sequence[Value]]) -> None:
        """One statement for many rows."""
        for row in rows:
            self.write(sql, *row)

    def snapshot(self) -> Snapshot:
        """The state now. It may be restored any number of times, on any Db of the same world in this process."""
        file = None
        if self._copied:
            file = self.copy.with_name(f"{self.copy.name}.{next(self._snapshots)}")
            copy_file(self.copy, file)
        return Snapshot(self, file)

    def restore(self, snapshot: Snapshot) -> None:
        """Take over a state; ValueError for one of another world."""
        if snapshot.base != self.base:
            raise ValueError(f"a snapshot of {snapshot.base} cannot be restored over {self.base}")
        self._forget_copy()
        if snapshot.file is None:
            self._connection = _open_base(self.base)
        else:
            self._copy(snapshot.file)
        self.scratch = copying.deepcopy(snapshot.scratch)
        self.writes = snapshot.writes
        self.touched |= snapshot.touched

    def reset(self) -> None:
        """Back to the world as it was, scratch empty."""
        self._forget_copy()
        self._connection = _open_base(self.base)
        self.scratch = {}
        self.writes = 0

    def close(self) -> None:
        """Close, and remove the copy. Snapshots stay."""
        self._forget_copy()

    def _copy(self, source: Path) -> None:
        self._connection.close()
        self.copy.parent.mkdir(parents=True, exist_ok=True)
        copy_file(source, self.copy)
        self._connection = _open_copy(self.copy)
        self._connection.set_authorizer(_noting(self.touched))
        self._copied = True

    def _forget_copy(self) -> None:
        self._connection.close()
        self.touched = set()
        if self._copied:
            self.copy.unlink(missing_ok=True)
            self._copied = False


def _noting(touched: set[str]) -> Callable[..., int]:
    """Called by SQLite for whatever a statement is going to do, the actions of foreign keys included."""

    def note(action: int, first: str | None, second: str | None, database: str | None, inner: str | None) -> int:
        if action in _WRITING and database == "main" and first is not None:
            touched.add(first)
        return sqlite3.SQLITE_OK

    return note


def copy_file(source: Path, target: Path) -> None:
    """Share the blocks where the file system can, else copy them."""
    if not _clone(source, target):
        shutil.copyfile(source, target)


def _clone(source: Path, target: Path) -> bool:
    try:
        import fcntl
    except ImportError:  # not on Unix
        return False
    try:
        with source.open("rb") as read, target.open("wb") as written:
            fcntl.ioctl(written.fileno(), _FICLONE, read.fileno())
    except OSError:  # a file system without shared blocks, or two of them
        return False
    return True


def _open_base(path: Path) -> sqlite3.Connection:
    return _set_up(f"{path.as_uri()}?mode=ro&immutable=1")


def _open_copy(path: Path) -> sqlite3.Connection:
    connection = _set_up(path.as_uri())
    # The copy is worth nothing after a crash, so nothing waits for the disk.
    connection.execute("PRAGMA journal_mode=MEMORY")
    connection.execute("PRAGMA synchronous=OFF")
    connection.execute("PRAGMA foreign_keys=ON")
    return connection


def _set_up(uri: str) -> sqlite3.Connection:
    connection = sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False)
    connection.row_factory = sqlite3.Row
    connection.execute("PRAGMA cache_size=-512")  # KiB
    return connection
