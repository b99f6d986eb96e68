"""The pages' way to the database: connections that cannot write, and what is computed kept in memory."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import URL

from evals.store.database import BUSY_S, configured_url, is_sqlite, open_database, reading
from evals.store.store import Store
from evals.store.view import View


class ReadOnlyStore(Store):
    """A store for looking at. A board that nobody has kept yet is computed, and kept in this process alone."""

    def __init__(self, engine: Engine) -> None:
        super().__init__(engine)
        self._kept: dict[str, tuple[str, bytes]] = {}

    @classmethod
    def open(cls, url: URL | None = None) -> ReadOnlyStore:
        """The database at `url`, else the configured one; made or migrated first, as by every other command."""
        return cls(read_only(open_database(url or configured_url())))

    @property
    def engine(self) -> Engine:
        """For queries of the pages' own; its connections refuse to write."""
        return self._engine

    @contextmanager
    def view(self) -> Iterator[View]:
        """One state of the database, with what this process has kept."""
        with reading(self._engine) as connection:
            yield View(connection, kept=self._kept)

    def keep(self, found: Mapping[str, tuple[str, bytes]]) -> None:
        """Keep it here; the database stays as it is."""
        self._kept.update(found)


def read_only(engine: Engine) -> Engine:
    """The same database, without the right to write. PostgreSQL's transactions are read-only one by one, by `reading`,
    and the session's default makes it so for all others."""
    if not is_sqlite(engine.url):
        event.listen(engine, "connect", _read_only_session)
        engine.dispose()
        return engine
    path = Path(str(engine.url.database)).resolve()
    url = engine.url
    engine.dispose()
    reader = create_engine(url, creator=lambda: _connect(path))
    event.listen(reader, "begin", _begin)
    return reader


def _connect(path: Path) -> sqlite3.Connection:
    uri = f"{path.as_uri()}?mode=ro"
    return sqlite3.connect(uri, uri=True, timeout=BUSY_S, check_same_thread=False, isolation_level=None)


def _begin(connection: Connection) -> None:
    connection.exec_driver_sql("BEGIN")  # one consistent view for all questions of a page


def _read_only_session(connection: object, _record: object) -> None:
    connection.read_only = True  # type: ignore[attr-defined]  # psycopg's
