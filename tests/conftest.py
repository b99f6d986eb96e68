"""What every test gets: a clean environment, and slow tests only when asked for."""

import os
from pathlib import Path

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--runslow", action="store_true", help="also run the tests marked slow (over 5 s each)")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--runslow"):
        return
    for item in items:
        if "slow" in item.keywords:
            item.add_marker(pytest.mark.skip(reason="slow; run with --runslow"))


@pytest.fixture(autouse=True)
def _own_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No setting of the developer's reaches a test, and no test writes to the developer's home."""
    for name in [n for n in os.environ if n.startswith("AGENTENV_")]:
        monkeypatch.delenv(name)
    home = tmp_path_factory.mktemp("agentenv-home")
    monkeypatch.setenv("AGENTENV_HOME", str(home))
    return home
