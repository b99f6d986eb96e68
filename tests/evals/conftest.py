"""A store on a database of its own, by SQLite and by PostgreSQL."""

from collections.abc import Iterator
from pathlib import Path

import postgres
import pytest
from sqlalchemy.engine import URL

from evals.store.store import Store


@pytest.fixture(scope="session")
def server() -> Iterator[postgres.Postgres]:
    why = postgres.missing()
    if why is not None:
        pytest.skip(why)
    started = postgres.Postgres()
    yield started
    started.close()


@pytest.fixture(params=["sqlite", "postgresql"])
def backend(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def url(backend: str, request: pytest.FixtureRequest) -> Iterator[URL]:
    """An empty database, of either kind."""
    if backend == "sqlite":
        yield request.getfixturevalue("file_url")
        return
    server = request.getfixturevalue("server")
    made = server.new()
    yield made
    server.drop(made)


@pytest.fixture
def file_url(tmp_path: Path) -> URL:
    """Of an SQLite file that is not there yet."""
    return URL.create("sqlite", database=str(tmp_path / "runs.db"))


@pytest.fixture
def store(url: URL) -> Iterator[Store]:
    with Store.open(url) as opened:
        yield opened
