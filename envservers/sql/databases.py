"""Where databases lie, and connections to them that sessions lend and give back."""

from __future__ import annotations

import functools
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agentenv.config import home
from agentenv.keep import kept, sources_digest
from envservers.sql.guard import Reader
from envservers.sql.worlds.fill import write_database
from envservers.sql.worlds.schema import schema

COPIES = ("visible", "hidden1", "hidden2")
"""The database that is asked, and two of other seeds where an answer must hold too."""
IDLE = 4
"""Idle connections that are kept for each file."""

_idle: dict[tuple[Path, bool], list[Reader]] = {}
_lock = threading.Lock()
_building = threading.Lock()


def databases(name: str) -> tuple[Path, ...]:
    """The files of a schema, the visible one first; made if they are not there yet."""
    with _building:
        return _databases(name, home())


@contextmanager
def reader(path: Path, *, foreign: bool = False) -> Iterator[Reader]:
    """A connection for one caller at a time. Connections hold nothing of a query, so that they may be used again."""
    with _lock:
        idle = _idle.setdefault((path, foreign), [])
        found = idle.pop() if idle else None
    lent = found or Reader(path, foreign=foreign)
    try:
        yield lent
    finally:
        with _lock:
            if spare := len(idle) < IDLE:
                idle.append(lent)
        if not spare:
            lent.close()


@functools.lru_cache(maxsize=256)
def _databases(name: str, at: Path) -> tuple[Path, ...]:
    folder = kept(at / "sql" / name, _sources(), lambda work: _write(work, name))
    return tuple(folder / f"{copy}.sqlite" for copy in COPIES)


@functools.cache
def _sources() -> str:
    from importlib.resources import files

    from agentenv.keep import file_digest

    package = "envservers.sql.worlds"
    schemas = Path(str(files(package).joinpath("schemas")))
    return " ".join([sources_digest(package), *(file_digest(path) for path in sorted(schemas.iterdir()))])


def _write(work: Path, name: str) -> None:
    for seed, copy in enumerate(COPIES):
        write_database(str(work / f"{copy}.sqlite"), schema(name), seed)
