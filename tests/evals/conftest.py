"""A store in a folder of its own."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy.engine import URL

from evals.store.store import Store


@pytest.fixture
def url(tmp_path: Path) -> URL:
    return URL.create("sqlite", database=str(tmp_path / "runs.db"))


@pytest.fixture
def store(url: URL) -> Iterator[Store]:
    with Store.open(url) as opened:
        yield opened
