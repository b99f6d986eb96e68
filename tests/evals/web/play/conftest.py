"""A store for the room."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from sqlalchemy.engine import URL

from evals.store.store import Store


@pytest.fixture
def kept(file_url: URL) -> Iterator[Store]:
    """An empty SQLite store: what differs between databases is tested with the store itself."""
    with Store.open(file_url) as store:
        yield store
