"""The small encyclopedia, built once for all tests of this folder."""

from pathlib import Path

import pytest

from envservers.search.env import SearchEnv
from envservers.search.spec import SPEC

SMALL = {"size": "small"}


@pytest.fixture(scope="session")
def built_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("search-home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AGENTENV_HOME", str(home))
        SPEC.task_set(SMALL).get("test", 0)
    return home


@pytest.fixture
def world(built_home: Path, _own_home: Path, monkeypatch: pytest.MonkeyPatch):
    """The task set of the small encyclopedia, with the home that holds it."""
    monkeypatch.setenv("AGENTENV_HOME", str(built_home))
    return SPEC.task_set(SMALL)


@pytest.fixture
def env(world) -> SearchEnv:
    return SearchEnv(size="small")
