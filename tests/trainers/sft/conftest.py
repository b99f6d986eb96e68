"""A tiny model for mazes, made once."""

from pathlib import Path

import pytest
from tiny_models import tiny_model


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_model(tmp_path_factory.mktemp("maze-model"), words=["move north", "move south"])
