"""The FSDP2 learner on one rank, against plain transformers."""

import numpy as np
import pytest
import torch
from tiny_models import tiny_model
from token_batches import learner_config, made_batch
from transformers import AutoModelForCausalLM

from trainers.fsdp.learner import FsdpLearner


@pytest.fixture(scope="module")
def tied(tmp_path_factory):
    return tiny_model(tmp_path_factory.mktemp("tied"))


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


def plain_logprobs(folder, batch, temperature=1.0):
    """By transformers alone, one segment at a time."""
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    arrays = []
    for segment in batch.segments:
        ids = torch.tensor(segment.tokens)
        with torch.no_grad():
            logp = (model(ids[None]).logits[0].float() / temperature).log_softmax(-1)
        own = logp[torch.arange(len(ids) - 1), ids[1:]].numpy()
        arrays.append(np.where(segment.mask, np.concatenate([[0], own]), 0))
    return arrays


@pytest.mark.parametrize("temperature", [1.0, 0.7])
@pytest.mark.parametrize("packing", ["on", "off"])
def test_logprobs_are_those_of_transformers(tied, learners, packing, temperature):
    batch = made_batch()
    learner = learners(tied, batch__packing=packing, rollout__temperature=temperature, batch__tokens_per_forward=40)
    expected = plain_logprobs(tied, batch, temperature)
    for got, want in zip(learner.logprobs(batch), expected, strict=True):
        np.testing.assert_allclose(got, want, atol=1e-5)


def test_an_update_moves_towards_what_had_advantage(tied, learners):
    learner = learners(tied, optim__lr=1e-2)
    batch = made_batch()
    before = learner.logprobs(batch)
    stats = learner.update(batch)
    after = learner.logprobs(batch)
    gain = sum(float(((b - a) * s.advantages).sum()) for a, b, s in zip(before, after, batch.segments, strict=True))
    assert stats.optimizer_steps == 1
    assert gain > 0
