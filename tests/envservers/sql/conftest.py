"""Databases made once for all tests of this folder."""

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def sql_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("sql-home")


@pytest.fixture(autouse=True)
def _databases_are_kept(sql_home: Path, _own_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENTENV_HOME", str(sql_home))
