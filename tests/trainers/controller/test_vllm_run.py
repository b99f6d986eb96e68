"""A whole run that samples by vLLM: its weights are pushed each step, and its own numbers are those of the learner."""

import pytest
from tiny_models import tiny_model
from train_runs import coin_config, episodes_of, rows_of
from vllm_python import NO_VLLM, vllm_python

from trainers.loop import train

pytestmark = [
    pytest.mark.usefixtures("coin"),
    pytest.mark.slow,
    pytest.mark.timeout(600),
    pytest.mark.skipif(bool(NO_VLLM), reason=NO_VLLM),
]


@pytest.mark.parametrize(("tied", "through"), [(True, "files"), (False, "bytes")])
def test_a_run_learns_from_what_vllm_sampled_with_the_weights_of_each_step(tmp_path, tied, through):
    folder = tiny_model(tmp_path / "model", tied=tied, hidden=64, heads=2, kv_heads=1)
    config = coin_config(
        folder,
        tmp_path / "run",
        run__steps=3,
        rollout__engine="vllm",
        rollout__engine_options={"python": vllm_python(), "push_through": through},
        optim__lr=1e-2,
    )
    summary = train(config)
    assert (summary.reason, summary.step) == ("complete", 3)
    assert summary.updates >= 1
    rows = rows_of(tmp_path / "run")
    assert max(row.get("mismatch/max", 0.0) for row in rows) < 1e-4
    for step, records in enumerate(episodes_of(tmp_path / "run")):
        assert {version for *_, turns in records for *_, version in turns} == {step}
