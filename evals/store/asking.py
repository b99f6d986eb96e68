"""Questions in the user's own SQL, on a connection that cannot write: one SELECT, a limit of rows and of time."""

from __future__ import annotations

import re
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from sqlalchemy import Engine

from agentenv.errors import BadCall
from evals.store.database import is_sqlite, where

TIME_LIMIT_S = 60.0
ROWS = 1000

_FIRST = re.compile(r"(?:\s+|--[^\n]*(?:\n|$)|/\*.*?\*/)*([a-z]+)", re.IGNORECASE | re.DOTALL)
_STEPS = 10_000
"""Instructions of SQLite's machine between two looks at the clock."""


class BadQuery(BadCall):
    """The database does not take the query, or it is not a question."""

    code = "bad_query"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a query found."""

    columns: Sequence[str]
    rows: Sequence[tuple[Any, ...]]
    """JSON values; bytes as hexadecimal text."""
    cut: bool
    """There were more rows than asked for."""


def ask(engine: Engine, query: str, *, rows: int = ROWS, time_limit_s: float = TIME_LIMIT_S) -> Asked:
    """The first `rows` rows of a SELECT; BadQuery says what the database has against it."""
    first = _FIRST.match(query)
    if first is None or first.group(1).upper() not in ("SELECT", "WITH", "VALUES"):
        raise BadQuery("only questions can be asked: a query begins with SELECT, WITH or VALUES")
    if "\x00" in query:
        raise BadQuery("the query holds a NUL character")
    answer = _from_sqlite if is_sqlite(engine.url) else _from_postgresql
    with answer(engine, query, time_limit_s) as (columns, found):
        taken = [row for row, _ in zip(found, range(rows + 1), strict=False)]
    plain = [tuple(map(_plain, row)) for row in taken[:rows]]
    return Asked(columns=columns, rows=plain, cut=len(taken) > rows)


_Answer = tuple[list[str], Iterator[tuple[Any, ...]]]


@contextmanager
def _from_sqlite(engine: Engine, query: str, time_limit_s: float) -> Iterator[_Answer]:
    path = Path(str(engine.url.database)).resolve()
    until = time.monotonic() + time_limit_s
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection:
        connection.set_authorizer(_allow)
        connection.set_progress_handler(lambda: int(time.monotonic() > until), _STEPS)
        try:
            cursor = connection.execute(query)
            yield [column[0] for column in cursor.description or ()], cursor
        except (sqlite3.Error, sqlite3.Warning) as exc:  # a second statement is a Warning in older versions of Python
            why = f"it took over {time_limit_s:.0f} s" if "interrupted" in str(exc) else str(exc)
            raise BadQuery(f"database {where(engine.url)}: {why}") from exc


def _allow(action: int, first: str | None, second: str | None, database: str | None, view: str | None) -> int:
    """Reading, and functions but for the one that loads code. ATTACH and PRAGMA would reach other files."""
    if action == sqlite3.SQLITE_FUNCTION:
        return sqlite3.SQLITE_DENY if second == "load_extension" else sqlite3.SQLITE_OK
    reads = action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_RECURSIVE)
    return sqlite3.SQLITE_OK if reads else sqlite3.SQLITE_DENY


@contextmanager
def _from_postgresql(engine: Engine, query: str, time_limit_s: float) -> Iterator[_Answer]:
    import psycopg

    words, named = engine.dialect.create_connect_args(engine.url)
    try:
        with closing(psycopg.connect(*words, **named)) as connection:
            connection.read_only = True
            connection.execute(f"SET statement_timeout = {int(1e3 * time_limit_s)}")
            cursor = connection.cursor()
            found = cursor.stream(query.encode())  # the extended protocol: a second statement is refused
            first = next(found, None)
            if first is None:  # a stream without rows does not tell its columns
                cursor.execute(query.encode(), prepare=True)
            columns = [column.name for column in cursor.description or ()]
            yield columns, iter(()) if first is None else _after(first, found)
    except psycopg.Error as exc:
        raise BadQuery(f"database {where(engine.url)}: {str(exc).strip()}") from exc


def _after(first: tuple[Any, ...], rest: Iterator[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
    yield first
    yield from rest


def _plain(value: Any) -> Any:
    """As JSON has it."""
    match value:
        case bytes() | memoryview():
            return bytes(value).hex()
        case Decimal():
            return int(value) if value == value.to_integral_value() else float(value)
        case None | bool() | int() | float() | str() | list() | dict():
            return value
    return str(value)
