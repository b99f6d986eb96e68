"""The pages over a made store, asked for in this process."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from made_pages import fill
from sqlalchemy.engine import URL
from starlette.testclient import TestClient

from evals.store.store import Store
from evals.web.app import make_app
from evals.web.database import ReadOnlyStore


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> URL:
    """A database for looking at; nobody writes to it."""
    url = URL.create("sqlite", database=str(tmp_path_factory.mktemp("pages") / "runs.db"))
    with Store.open(url) as store:
        fill(store)
    return url


@pytest.fixture(scope="module")
def pages(filled: URL) -> Iterator[TestClient]:
    """A client of the pages over it."""
    with ReadOnlyStore.open(filled) as store:
        yield TestClient(make_app(store))
