"""Models and learners for tests of the FSDP2 learner."""

import pytest
from tiny_models import tiny_model
from token_batches import learner_config

from trainers.fsdp.learner import FsdpLearner


@pytest.fixture(scope="session")
def tied(tmp_path_factory):
    return tiny_model(tmp_path_factory.mktemp("tied"))


@pytest.fixture(scope="session")
def untied(tmp_path_factory):
    return tiny_model(tmp_path_factory.mktemp("untied"), tied=False)


@pytest.fixture
def learners():
    """Makes learners and closes them."""
    made = []

    def make(model, **settings):
        made.append(FsdpLearner(learner_config(model, **settings)))
        return made[-1]

    yield make
    for learner in made:
        learner.close()
