"""Checkpoints of the learner, and folders that transformers loads."""

import json
import subprocess
import sys

import numpy as np
import pytest
import torch
from tiny_models import describe
from token_batches import learner_config, made_batch, with_values
from transformers import AutoModelForCausalLM, AutoTokenizer, GenerationConfig

from agentenv.errors import BadCall
from agentenv.trained_on import trained_on
from trainers.checkpoints import LEARNER, CheckpointFailed, Checkpoints
from trainers.export import export
from trainers.fsdp.export import export_checkpoint

LEARN = {"algorithm__estimator": "gae", "optim__lr": 1e-2, "critic__optim__lr": 1e-2, "optim__weight_decay": 0.1}


def copied(weights):
    return {name: tensor.clone() for name, tensor in weights}


def assert_equal(found, expected):
    assert found.keys() == expected.keys()
    assert all(torch.equal(found[name], expected[name]) for name in found)


def learn(learner, *steps):
    for step in steps:
        learner.update(with_values(made_batch(seed=step, step=step), seed=step))


def test_a_resumed_learner_goes_on_bit_for_bit(tied, learners, tmp_path):
    """Policy, critic, both optimizers: after the third step nothing tells the two apart."""
    undisturbed = learners(tied, **LEARN)
    learn(undisturbed, 1, 2)
    undisturbed.save(tmp_path / "two")
    learn(undisturbed, 3)
    resumed = learners(tied, **LEARN)
    resumed.load(tmp_path / "two")
    learn(resumed, 3)
    assert_equal(copied(resumed.weights()), copied(undisturbed.weights()))
    batch = made_batch(seed=9)
    for array, other in zip(resumed.values(batch)[0], undisturbed.values(batch)[0], strict=True):
        assert np.array_equal(array, other)


def test_saving_changes_nothing(tied, learners, tmp_path):
    """Also before the first step, where an optimizer that makes its state lazily would be moved by a save."""
    one, other = learners(tied, **LEARN), learners(tied, **LEARN)
    one.save(tmp_path / "untouched")
    for learner in (one, other):
        learn(learner, 1)
    assert_equal(copied(one.weights()), copied(other.weights()))
    one.load(tmp_path / "untouched")
    learn(one, 1)
    assert_equal(copied(one.weights()), copied(other.weights()))


def test_a_checkpoint_without_a_critic_is_refused_where_one_is_needed(tied, learners, tmp_path):
    learners(tied).save(tmp_path / "actor")
    with pytest.raises(OSError, match="critic"):
        learners(tied, algorithm__estimator="gae").load(tmp_path / "actor")


def test_a_folder_without_a_checkpoint_is_named(tied, learners, tmp_path):
    with pytest.raises(OSError, match=r"cannot read .*empty: there is no \.metadata"):
        learners(tied).load(tmp_path / "empty")


@pytest.mark.parametrize("folder", ["tied", "untied"])
def test_an_exported_folder_loads_with_equal_logits(folder, learners, tmp_path, request):
    folder = request.getfixturevalue(folder)
    learner = learners(folder, optim__lr=1e-2)
    learn(learner, 1)
    out = tmp_path / "out"
    learner.export(out)
    model = AutoModelForCausalLM.from_pretrained(out)
    assert model.dtype == torch.float32
    batch = made_batch(seed=5)
    for segment, logprobs in zip(batch.segments, learner.logprobs(batch), strict=True):
        ids = torch.tensor(segment.tokens)
        with torch.no_grad():
            logp = model(ids[None]).logits[0].log_softmax(-1)[torch.arange(len(ids) - 1), ids[1:]].numpy()
        np.testing.assert_allclose(logprobs, np.where(segment.mask, np.append(0, logp), 0), atol=1e-5)
    source, written = describe(folder), describe(out)
    assert {k: v for k, v in written.items() if k != "dtype"} == {k: v for k, v in source.items() if k != "dtype"}
    assert written["tie_word_embeddings"] == (folder.name.startswith("tied"))
    assert GenerationConfig.from_pretrained(out).eos_token_id == 2
    chat = [{"role": "user", "content": "go north"}]
    ours, theirs = (AutoTokenizer.from_pretrained(f).apply_chat_template(chat, tokenize=False) for f in (out, folder))
    assert ours == theirs


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_the_command_exports_a_checkpoint_in_one_process(untied, learners, tmp_path):
    settings = {"model__lora__rank": 2, "optim__lr": 1e-2, "kl__placement": "reward"}
    learner = learners(untied, **settings)
    learn(learner, 1)
    config = learner_config(untied, **settings)
    checkpoint = Checkpoints(tmp_path, keep=1).save(learner, step=1, state={}, config=config)
    out = tmp_path / "out"
    command = [sys.executable, "-m", "agentenv.cli.main", "export", str(checkpoint), "--out"]
    done = subprocess.run([*command, str(out)], capture_output=True, text=True, timeout=280, check=False)
    assert done.returncode == 0, done.stderr
    assert f"-> {out}" in done.stdout
    model = AutoModelForCausalLM.from_pretrained(out)
    for name, tensor in learner.weights():
        torch.testing.assert_close(dict(model.named_parameters())[name].detach(), tensor, atol=1e-6, rtol=0)
    with pytest.raises(BadCall, match="exists and is not an empty folder"):
        export(checkpoint, out)


def test_a_model_that_has_moved_is_given_and_the_type_is_chosen(untied, learners, tmp_path):
    learner = learners(untied)
    config = learner_config(untied)
    config.model.path = "/gone"
    checkpoint = Checkpoints(tmp_path, keep=1).save(learner, step=1, state={}, config=config, tasks={"a task"})
    export_checkpoint(checkpoint, tmp_path / "out", model=untied, dtype="bfloat16")
    assert AutoModelForCausalLM.from_pretrained(tmp_path / "out").dtype == torch.bfloat16
    assert trained_on(tmp_path / "out") == {"a task"}
    assert json.loads((checkpoint / "config.json").read_text())["model"]["path"] == "/gone"
    assert (checkpoint / LEARNER).is_dir()


def two_saves(model, folder, *, between: str = "", kill_at: str | None = None) -> subprocess.CompletedProcess:
    """A process that saves steps 1 and 2, with a line of code between them."""
    code = f"""
import resource, pathlib
from token_batches import learner_config
from trainers.checkpoints import Checkpoints
from trainers.fsdp.learner import FsdpLearner
config = learner_config(pathlib.Path({str(model)!r}))
learner = FsdpLearner(config)
store = Checkpoints(pathlib.Path({str(folder)!r}), keep=3)
store.save(learner, step=1, state={{}}, config=config)
{between}
store.save(learner, step=2, state={{}}, config=config)
"""
    environment = {"PYTHONPATH": ":".join(sys.path), "OMP_NUM_THREADS": "1"}
    if kill_at is not None:
        environment["AGENTENV_KILL_AT"] = kill_at
    return subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=280, check=False
    )


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_full_disk_in_the_learners_own_files_is_a_clear_error(tied, tmp_path):
    """A limit on file sizes stands for a full disk; the checkpoint before survives."""
    done = two_saves(tied, tmp_path, between="resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))")
    assert CheckpointFailed.__name__ in done.stderr
    assert "earlier checkpoints are untouched: step-00000001" in done.stderr
    assert [p.name for p in tmp_path.iterdir()] == ["step-00000001"]


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_kill_between_shards_and_index_leaves_the_checkpoint_before(tied, learners, tmp_path):
    assert two_saves(tied, tmp_path, kill_at="save:shards@2").returncode == -9
    (aside,) = tmp_path.glob(".step-*")
    assert [p.name for p in (aside / LEARNER).iterdir()] == ["__0_0.distcp"]
    latest = Checkpoints(tmp_path, keep=3).latest()
    assert latest.name == "step-00000001"
    learners(tied).load(latest / LEARNER)
