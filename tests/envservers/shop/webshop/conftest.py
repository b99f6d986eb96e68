"""The small catalogue, built once for all tests of this folder."""

from pathlib import Path

import pytest

from envservers.shop.webshop.env import WebShop
from envservers.shop.webshop.sources import store_of
from envservers.shop.webshop.spec import SPEC

SMALL = {"size": "small"}


@pytest.fixture(scope="session")
def built_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("shop-home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AGENTENV_HOME", str(home))
        SPEC.task_set(SMALL).get("test", 0)
    return home


@pytest.fixture
def world(built_home: Path, _own_home: Path, monkeypatch: pytest.MonkeyPatch):
    """The task set of the small catalogue, with the home that holds it."""
    monkeypatch.setenv("AGENTENV_HOME", str(built_home))
    return SPEC.task_set(SMALL)


@pytest.fixture
def store(world):
    return store_of(size="small")


@pytest.fixture
def env(world) -> WebShop:
    return WebShop(size="small")


@pytest.fixture(scope="session")
def _full(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("full-shop-home")


@pytest.fixture
def full_home(_full: Path, _own_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A home that keeps the full catalogue from test to test."""
    monkeypatch.setenv("AGENTENV_HOME", str(_full))
