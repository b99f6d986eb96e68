"""A tiny model, made once, and the coin."""

from pathlib import Path

import pytest
from tiny_models import tiny_model
from trainer_envs import coins


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_model(tmp_path_factory.mktemp("model"), context=256)


@pytest.fixture
def coin():
    with coins():
        yield
