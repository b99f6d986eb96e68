"""Opening a database: where it is, how it is locked, and bringing its tables up to date.

SQLite runs with a write-ahead log, and every write transaction takes the write lock at its beginning: many processes
can write at once, each waits for its turn, and none fails half-way. PostgreSQL locks rows; what must happen one after
the other there (migrations, the numbering of attempts) takes a lock of its own. What is not an agentenv database is
never touched.
"""

from __future__ import annotations

import contextlib
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

from sqlalchemy import Connection, Engine, create_engine, event, inspect, text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError

from agentenv import config
from agentenv.errors import AgentEnvError, BadCall

BUSY_S = 60.0
"""How long a transaction waits for the others' before it gives up."""

HEAD = "0002"
"""The newest revision; the one that this version reads and writes."""

MIGRATIONS = Path(__file__).parent / "migrations"

MIGRATING, PLANNING = 0x61676530, 0x61676531
"""Numbers of the locks that PostgreSQL keeps for whole transactions."""

_SQLITE_HEADER = b"SQLite format 3\0"


class StoreError(AgentEnvError):
    """The database cannot be used: corrupt, foreign, newer than this version, or out of reach."""

    code = "store_error"


def configured_url() -> URL:
    """The database of `AGENTENV_DB`, else `agentenv.db` under `AGENTENV_HOME`."""
    given = config.database_url()
    try:
        return make_url(given)
    except ArgumentError as exc:
        raise BadCall(
            "AGENTENV_DB is no SQLAlchemy URL; write sqlite:////path/to/file.db or postgresql://user@host/name"
        ) from exc


def where(url: URL) -> str:
    """What messages call the database: the file, or the URL without its password."""
    return url.database or "" if is_sqlite(url) else url.render_as_string(hide_password=True)


def open_database(url: URL) -> Engine:
    """An engine on `url`, its tables made or migrated. StoreError names the database and what to do."""
    if is_sqlite(url):
        _check_file(url)
    engine = _engine(url)
    if is_sqlite(url):
        event.listen(engine, "connect", _prepare_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
    try:
        if is_sqlite(url):
            _use_wal(engine)
        _migrate(engine)
    except BaseException:
        engine.dispose()
        raise
    return engine


def _engine(url: URL) -> Engine:
    if is_sqlite(url):
        return create_engine(url, connect_args={"timeout": BUSY_S})
    if url.drivername in ("postgresql", "postgres"):
        url = url.set(drivername="postgresql+psycopg")
    try:
        engine = create_engine(url, pool_pre_ping=True)
    except ModuleNotFoundError as exc:
        extra = "; pip install 'agentenv-gym[postgres]'" if exc.name == "psycopg" else ""
        raise StoreError(f"database {where(url)}: {exc}{extra}") from exc
    except (NoSuchModuleError, ImportError) as exc:
        raise StoreError(f"database {where(url)}: {exc}") from exc
    if engine.dialect.name != "postgresql":
        raise StoreError(f"database {where(url)}: {engine.dialect.name} is not supported; use SQLite or PostgreSQL")
    return engine


@contextlib.contextmanager
def reading(engine: Engine) -> Iterator[Connection]:
    """One consistent view of the database."""
    options = {} if is_sqlite(engine.url) else {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
    with naming(engine), engine.connect().execution_options(**options) as connection, connection.begin():
        yield connection


@contextlib.contextmanager
def writing(engine: Engine) -> Iterator[Connection]:
    """One transaction that may write; committed at the end, rolled back on an error."""
    with naming(engine), engine.connect().execution_options(agentenv_write=True) as connection, connection.begin():
        yield connection


def one_at_a_time(connection: Connection, lock: int) -> None:
    """Wait until no other transaction holds the lock, and hold it to the end of this one. SQLite's own do so anyway."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": lock})


def is_sqlite(url: URL) -> bool:
    """Whether the database is a file of SQLite's."""
    return url.get_backend_name() == "sqlite"


def _check_file(url: URL) -> None:
    """Refuse what is no SQLite file before SQLite sees it, and make the folder of a new one."""
    if not url.database or url.database == ":memory:":
        raise BadCall("a database in memory would be lost with the process; write sqlite:////path/to/file.db")
    path = Path(url.database)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            return
        with path.open("rb") as file:
            header = file.read(len(_SQLITE_HEADER))
    except OSError as exc:
        raise StoreError(f"database {path}: {exc}") from exc
    if header and header != _SQLITE_HEADER:
        raise StoreError(f"{path} is not an SQLite database; it was left as it is. {_NEXT}")


_NEXT = "Move it away, or name another file: AGENTENV_DB=sqlite:////path/to/file.db"


@contextlib.contextmanager
def naming(engine: Engine) -> Iterator[None]:
    """Errors of the database become a StoreError that says which one and what to do."""
    try:
        yield
    except (DBAPIError, sqlite3.Error) as exc:  # the second while a connection is being prepared
        name, reason = where(engine.url), str(exc.orig if isinstance(exc, DBAPIError) else exc).strip()
        if is_sqlite(engine.url) and ("malformed" in reason or "not a database" in reason):
            raise StoreError(f"database {name} is corrupt ({reason}); it was left as it is. {_NEXT}") from exc
        if "locked" in reason:
            raise StoreError(f"database {name}: other processes held it for {BUSY_S:.0f} s ({reason})") from exc
        raise StoreError(f"database {name}: {reason}") from exc


def _prepare_sqlite(connection: sqlite3.Connection, _record: object) -> None:
    connection.isolation_level = None  # we say BEGIN ourselves, so that it can be IMMEDIATE
    connection.execute("PRAGMA foreign_keys = ON")
    # with a write-ahead log, a killed process loses nothing that it committed; a power cut may lose the last commits
    connection.execute("PRAGMA synchronous = NORMAL")


def _begin_sqlite(connection: Connection) -> None:
    write = connection.get_execution_options().get("agentenv_write")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")


def _use_wal(engine: Engine) -> None:
    """Switch the file to a write-ahead log, once in its life. SQLite does not wait for locks here, so we do."""
    deadline = time.monotonic() + BUSY_S
    with naming(engine):
        while True:
            raw = engine.raw_connection()
            try:
                if raw.cursor().execute("PRAGMA journal_mode").fetchone()[0] == "wal":
                    return
                raw.cursor().execute("PRAGMA journal_mode = WAL")
            except sqlite3.DatabaseError as exc:
                busy = isinstance(exc, sqlite3.OperationalError) and "locked" in str(exc)
                if not busy or time.monotonic() > deadline:
                    raise
                time.sleep(0.02)
            finally:
                raw.close()


def _migrate(engine: Engine) -> None:
    with reading(engine) as connection:
        if _revision(connection) == HEAD:
            return
    with writing(engine) as connection:
        one_at_a_time(connection, MIGRATING)
        revision = _revision(connection)  # again: another process may have been quicker
        if revision == HEAD:
            return
        if revision is None and inspect(connection).get_table_names():
            raise StoreError(f"{where(engine.url)} is the database of another program; it was left as it is. {_NEXT}")
        _upgrade(connection, revision, where(engine.url))


def _revision(connection: Connection) -> str | None:
    if not inspect(connection).has_table("alembic_version"):
        return None
    return connection.execute(text("SELECT version_num FROM alembic_version")).scalar()


def _upgrade(connection: Connection, revision: str | None, name: str) -> None:
    from alembic import command
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    known = {script.revision for script in ScriptDirectory(str(MIGRATIONS)).walk_revisions()}
    if revision is not None and revision not in known:
        raise StoreError(
            f"database {name} has revision {revision}, newer than {HEAD}, which this agentenv reads; upgrade agentenv"
        )
    alembic = Config()
    alembic.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    alembic.attributes["connection"] = connection
    command.upgrade(alembic, "head")
