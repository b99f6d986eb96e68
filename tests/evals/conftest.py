"""A store on a database of its own, by SQLite and by PostgreSQL."""

import shutil
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


@pytest.fixture(scope="session")
def made_server(server: postgres.Postgres) -> URL:
    """A database with tables and without rows, to be copied."""
    url = server.new()
    Store.open(url).close()
    return url


@pytest.fixture(scope="session")
def made_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same as a file."""
    file = tmp_path_factory.mktemp("made") / "runs.db"
    Store.open(URL.create("sqlite", database=str(file))).close()
    return file


@pytest.fixture(params=["sqlite", "postgresql"])
def backend(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def url(backend: str, request: pytest.FixtureRequest) -> Iterator[URL]:
    """A database of either kind: empty, or with its tables where the test asks for a store."""
    tables = "store" in request.fixturenames
    if backend == "sqlite":
        file_url = request.getfixturevalue("file_url")
        if tables:
            shutil.copy(request.getfixturevalue("made_file"), file_url.database)
        yield file_url
        return
    server = request.getfixturevalue("server")
    made = server.new(like=request.getfixturevalue("made_server") if tables else None)
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
