"""Two ranks under torchrun learn what one does, and read each other's checkpoints. One start serves all tests here."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
import two_ranks
from token_batches import gradients, made_batch, with_values
from transformers import AutoModelForCausalLM

from trainers.fsdp.world import NO_LIMIT

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

CUTS = [
    {"algorithm__estimator": "gae", "batch__tokens_per_microbatch": 10_000},
    {"batch__tokens_per_microbatch": 40, "loss__aggregate": "episode_mean"},
    {"batch__packing": "off", "batch__episodes_per_microbatch": 1, "loss__aggregate": "constant"},
    {"batch__packing": "off", "batch__episodes_per_microbatch": 3, "fsdp__shard_size": 1},
    {"fsdp__cpu_offload": True, "batch__packing": "off", "batch__episodes_per_microbatch": 2},
    {"model__gradient_checkpointing": True, "batch__tokens_per_microbatch": 100, "model__lora__rank": 2},
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("ranks")


@pytest.fixture(scope="module")
def one(tied, folder):
    """One rank: gradients, an update, a checkpoint, and the update after it."""
    from token_batches import learner_config

    from trainers.fsdp.learner import FsdpLearner

    found = {"gradients": []}
    for cut in CUTS:
        learner = FsdpLearner(learner_config(tied, **cut))
        batch = with_values(made_batch())
        roles = ("policy", "critic") if "algorithm__estimator" in cut else ("policy",)
        found["gradients"].append({role: gradients(learner, batch, role) for role in roles})
        learner.close()
    learner = FsdpLearner(learner_config(tied, **two_ranks.LEARN))
    batch = with_values(made_batch())
    found |= {"logprobs": learner.logprobs(batch), "values": learner.values(batch), "stats": learner.update(batch)}
    found["weights"] = {name: tensor.clone() for name, tensor in learner.weights()}
    learner.save(folder / "by_one")
    batch.step = 2
    learner.update(batch)
    found["resumed"] = {name: tensor.clone() for name, tensor in learner.weights()}
    learner.close()
    return found


@pytest.fixture(scope="module")
def two(one, tied, folder):
    out = folder / "two.pt"
    spec = {"model": str(tied), "cuts": CUTS, "load": str(folder / "by_one"), "folder": str(folder)}
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    done = subprocess.run(
        [*command, two_ranks.__file__, json.dumps(spec), str(out)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p), "OMP_NUM_THREADS": "1"},
        capture_output=True, text=True, timeout=280, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[:8000]
    return torch.load(out, weights_only=False)


@pytest.mark.parametrize("cut", range(len(CUTS)))
def test_two_ranks_have_the_gradient_of_one(one, two, cut):
    assert one["gradients"][cut].keys() == two["gradients"][cut].keys()
    for role, expected in one["gradients"][cut].items():
        for name, gradient in two["gradients"][cut][role].items():
            np.testing.assert_allclose(gradient, expected[name], atol=1e-5, err_msg=f"{CUTS[cut]} {role} {name}")


def test_two_ranks_see_and_learn_the_same(one, two):
    for kind in ("logprobs", "values"):
        arrays, expected = (found[kind] if kind == "logprobs" else found[kind][0] for found in (two, one))
        for array, own in zip(arrays, expected, strict=True):
            np.testing.assert_allclose(array, own, atol=1e-5)
    assert two["stats"].optimizer_steps == one["stats"].optimizer_steps
    assert two["stats"].metrics == pytest.approx(one["stats"].metrics, abs=1e-5)
    for array, own in zip(two["stats"].logprobs, one["logprobs"], strict=True):
        np.testing.assert_allclose(array, own, atol=1e-5, err_msg="what the update saw, of both ranks")
    assert_weights(two["weights"], one["weights"])


def test_the_reference_of_two_ranks_is_what_the_policy_was(one, two):
    for kind in ("reference", "reference_after"):
        for array, own in zip(two[kind], one["logprobs"], strict=True):
            np.testing.assert_allclose(array, own, atol=1e-5)


def test_a_follower_waits_without_a_limit_while_episodes_are_collected(two):
    assert two["control"] == ("gloo", NO_LIMIT)


def test_two_ranks_go_on_from_the_checkpoint_of_one(one, two):
    assert_weights(two["resumed"], one["resumed"])


def test_one_rank_goes_on_from_the_checkpoint_of_two(one, two, tied, folder, learners):
    learner = learners(tied, **two_ranks.LEARN)
    learner.load(folder / "by_two")
    assert_weights(dict(learner.weights()), two["weights"])
    batch = with_values(made_batch(step=2))
    learner.update(batch)
    assert_weights(dict(learner.weights()), one["resumed"])


def test_errors_of_all_ranks_are_raised_on_the_first_and_the_ranks_go_on(two):
    assert "optimizer step 1" in two["refused"]
    assert "nowhere" in two["missing"]


def test_two_ranks_export_what_transformers_loads(two, folder):
    exported = AutoModelForCausalLM.from_pretrained(folder / "exported")
    assert_weights(dict(exported.named_parameters()), two["resumed"])


def assert_weights(found, expected):
    assert found.keys() == expected.keys()
    for name, tensor in found.items():
        torch.testing.assert_close(
            tensor.detach(), expected[name], atol=2e-5, rtol=0, msg=lambda m, n=name: f"{n}: {m}"
        )
