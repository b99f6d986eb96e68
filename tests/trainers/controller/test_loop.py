"""Whole runs of the training loop on coins: a model of two small layers, the engine hf, every part as it ships."""

import asyncio
import json
import statistics
from dataclasses import replace

import pytest
from train_runs import coin_config, episodes_of, rows_of, state_of, tensors_of

from agentenv.errors import BadCall, ServerUnreachable
from agentenv.policy import Sampled
from agentenv.trajectory import read_jsonl
from trainers import parts
from trainers.audit.report import AuditFailed
from trainers.checkpoints import Checkpoints
from trainers.config import ESTIMATORS
from trainers.engines.hf import make as make_hf
from trainers.learner import NonFiniteLoss
from trainers.loop import train
from trainers.settings import BadSetting

pytestmark = pytest.mark.usefixtures("coin")

CUT = {"env__options": {"turns": 3}, "env__max_steps": 2}
"""Episodes of three turns that are cut after two."""


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_a_run_with_each_estimator(model, tmp_path, estimator):
    settings = CUT if estimator == "gae" else {}
    summary = train(coin_config(model, tmp_path, algorithm__estimator=estimator, **settings))
    assert (summary.reason, summary.step) == ("complete", 2)
    assert summary.updates >= 1
    rows = rows_of(tmp_path)
    assert [row["step"] for row in rows] == [1, 2]
    assert rows[0]["optim/lr"] == 1e-3
    records = episodes_of(tmp_path)
    members = 5 if estimator == "remax" else 4
    assert [len(step) for step in records] == [2 * members] * 2
    versions = [{turn[3] for *_, turns in step for turn in turns} for step in records]
    assert versions == [{0}, {1}], "each batch is of one version: the steps that were done before it"
    assert state_of(tmp_path, 2)["step"] == 2
    if estimator == "gae":
        assert rows[0]["outcome/step_limit"] == 8.0
        assert rows[0]["episodes/truncated_without_value"] == 0.0
        assert rows[0]["critic/grad_norm"] > 0


def test_the_two_armed_bandit_is_learned_through_the_whole_stack(model, tmp_path):
    config = coin_config(
        model, tmp_path, run__steps=20, batch__tasks_per_step=4, batch__group_size=8, optim__lr=1e-2,
        algorithm__estimator="rloo",
    )  # fmt: skip
    train(config)
    success = [row["train/success"] for row in rows_of(tmp_path)]
    assert statistics.mean(success[:3]) < 0.6
    assert statistics.mean(success[-3:]) > 0.9


def test_the_first_batch_is_audited_and_an_error_stops_the_run(model, tmp_path, monkeypatch):
    class Boastful:
        """Says that what it sampled was likelier than certain, once the push was checked."""

        def __init__(self, path, **options):
            self._engine, self.dtype = make_hf(path, **options), "float32"

        def __getattr__(self, name):
            return getattr(self._engine, name)

        async def generate(self, prompt_ids, sampling):
            found: Sampled = await self._engine.generate(prompt_ids, sampling)
            return replace(found, logprobs=[0.5] * len(found.logprobs)) if sampling.max_tokens == 1 else found

    monkeypatch.setitem(engines(monkeypatch), "hf", Boastful)
    with pytest.raises(AuditFailed, match=r"the first batch, of step 1 found 8 errors:\nerror: logprobs: episode 0"):
        train(coin_config(model, tmp_path))
    assert not (tmp_path / "checkpoints").exists()


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"loss__epochs": 2},
        {"loss__old_logprobs": "engine"},
        {"loss__old_logprobs": "engine", "loss__epochs": 2, "batch__tasks_per_minibatch": 1},
        {"algorithm__estimator": "gae", "kl__placement": "reward", "kl__estimator": "k1"},
        {"algorithm__estimator": "gae", "critic__warmup_steps": 1},
    ],
)
def test_the_distance_of_engine_and_learner_is_told_by_turn_whoever_gives_old_logprobs(
    model, tmp_path, monkeypatch, settings
):
    class Off:
        """Says of what it samples in training that it was less likely, by 1 or 2 % with the turn."""

        def __init__(self, path, **options):
            self._engine, self.dtype, self._opening = make_hf(path, **options), "float32", None

        def __getattr__(self, name):
            return getattr(self._engine, name)

        async def generate(self, prompt_ids, sampling):
            found: Sampled = await self._engine.generate(prompt_ids, sampling)
            if sampling.max_tokens > 1:
                return found  # the push check's
            self._opening = self._opening or len(prompt_ids)
            lie = 0.01 if len(prompt_ids) == self._opening else 0.02
            return replace(found, logprobs=[p - lie for p in found.logprobs])

    monkeypatch.setitem(engines(monkeypatch), "hf", Off)
    train(coin_config(model, tmp_path, run__steps=1, env__options={"turns": 2}, **settings))
    [row] = rows_of(tmp_path)
    for name, gap in (("turn_0/mean", 0.01), ("turn_0/max", 0.01), ("turn_1/mean", 0.02), ("max", 0.02)):
        assert row[f"mismatch/{name}"] == pytest.approx(gap, abs=1e-4), name
    assert row["mismatch/mean"] == pytest.approx(0.015, abs=1e-4)


def engines(monkeypatch) -> dict:
    """Engines by name that stand before those of installed packages."""
    ours: dict = {}
    factory = parts._factory
    monkeypatch.setattr(parts, "_factory", lambda group, name, setting: ours.get(name) or factory(group, name, setting))
    return ours


def test_batches_without_a_signal_make_no_step_and_stop_the_run(model, tmp_path):
    summary = train(coin_config(model, tmp_path, run__steps=9, reward__scale=0.0, stop__zero_groups=2))
    assert summary.reason.startswith("step 2: 2 batches in a row had nothing to learn from (stop.zero_groups=2)")
    assert (summary.step, summary.updates) == (2, 0)
    assert [row["learn/zero_batches"] for row in rows_of(tmp_path)] == [1.0, 2.0]
    assert rows_of(tmp_path)[0]["groups/zero_variance"] == 2.0
    assert rows_of(tmp_path)[0]["episodes/zero_variance"] == 8.0
    assert state_of(tmp_path, 2)["zero_batches"] == 2, "what was done is saved"
    assert summary.reason in (tmp_path / "notes.log").read_text()


def test_a_kl_over_its_limit_stops_the_run(model, tmp_path):
    settings = {"kl__placement": "reward", "kl__estimator": "k1", "stop__kl": 1e-3, "optim__lr": 0.1}
    summary = train(coin_config(model, tmp_path, run__steps=9, **settings))
    assert "mean KL" in summary.reason
    assert "stop.kl=0.001" in summary.reason
    assert summary.step < 9


def test_an_entropy_under_its_limit_stops_the_run(model, tmp_path):
    summary = train(coin_config(model, tmp_path, run__steps=9, stop__entropy=50.0))
    assert summary.reason.startswith("step 1: mean entropy 5.6")
    assert "stop.entropy=50" in summary.reason


def test_environments_that_break_stop_the_run(model, tmp_path):
    summary = train(coin_config(model, tmp_path, run__steps=9, env__options={"break_every": 1}, rollout__max_refills=1))
    assert summary.reason.startswith("step 1: 100% of the episodes were lost")
    [row] = rows_of(tmp_path)
    assert row["outcome/env_error"] == 16.0, "each of eight members was tried twice"
    assert row["errors/turn_0/coin"] == 1.0
    assert [len(step) for step in episodes_of(tmp_path)] == [16]


def test_an_environment_that_breaks_now_and_then_costs_its_groups_alone(model, tmp_path):
    settings = {"env__options": {"break_every": 4}, "rollout__max_refills": 0, "run__steps": 3}
    summary = train(coin_config(model, tmp_path, batch__tasks_per_step=8, **settings))
    assert summary.reason == "complete"
    rows = rows_of(tmp_path)
    assert sum(row["episodes/lost_env_error"] for row in rows) == 4 * 6, "an epoch has six such tasks"
    assert sum(row["train/episodes"] for row in rows) == 4 * 18


def test_a_loss_that_is_not_finite_names_step_and_batch_and_keeps_it(model, tmp_path):
    import numpy as np

    config = coin_config(model, tmp_path, algorithm__estimator="rloo", reward__scale=1e38, run__seed=1)
    with pytest.raises(NonFiniteLoss, match=r"step 1, optimizer step 1: .*the batch is in .*batch-00000001.npz"):
        train(config)
    with np.load(tmp_path / "batch-00000001.npz") as kept:
        assert {str(task) for task in kept["tasks"]} <= {f"coin/train/{i}" for i in range(24)}
        assert kept["0/0/advantages"].dtype == np.float32
    assert not (tmp_path / "checkpoints").exists()


def test_validation_plays_the_same_tasks_with_the_same_seeds_at_every_step(model, tmp_path):
    config = coin_config(
        model, tmp_path, optim__lr=0.0, evaluation__every=1, evaluation__before=True, evaluation__tasks=5,
        evaluation__max_steps=2, env__options={"turns": 3}, env__max_steps=1, run__deterministic=True,
    )  # fmt: skip
    train(config)
    before, one, two = episodes_of(tmp_path, "validation")

    def without_version(records):
        return [(*record, [turn[:3] for turn in turns]) for *record, turns in records]

    assert without_version(before) == without_version(one) == without_version(two)
    assert [task for task, *_ in before] == [f"coin/dev/{i}" for i in range(5)]
    assert {limit for _, _, _, limit, _ in before} == {2}, "its own limit, not the curriculum's"
    assert {limit for step in episodes_of(tmp_path) for _, _, _, limit, _ in step} == {1}
    assert [row["step"] for row in rows_of(tmp_path)] == [0, 1, 2]


def test_validation_is_made_before_and_after_even_when_no_period_is_set(model, tmp_path):
    train(coin_config(model, tmp_path, evaluation__before=True, evaluation__tasks=2, run__steps=3))
    assert [row["step"] for row in rows_of(tmp_path) if "validation/success" in row] == [0, 3]


def test_the_best_checkpoint_stays(model, tmp_path):
    config = coin_config(
        model, tmp_path, run__steps=6, evaluation__every=1, evaluation__before=True, evaluation__metric="reward",
        checkpoint__keep=1, optim__lr=0.02,
    )  # fmt: skip
    train(config)
    scores = {row["step"]: row["validation/reward"] for row in rows_of(tmp_path)}
    best = min(step for step, score in scores.items() if score == max(scores.values()))
    store = Checkpoints(tmp_path / "checkpoints", keep=1)
    assert store.best().name == f"step-{best:08d}"
    assert store.latest().name == "step-00000006"
    assert state_of(tmp_path, 6)["best"] == max(scores.values())
    assert state_of(tmp_path, best)["best_step"] == best


def test_evaluation_alone_trains_nothing(model, tmp_path):
    config = coin_config(
        model, tmp_path, evaluation__only=True, evaluation__tasks=3, evaluation__temperature=0.0, rollout__top_p=0.9
    )
    summary = train(config)
    assert (summary.updates, summary.reason) == (0, "complete")
    assert summary.metrics["validation/episodes"] == 3.0
    assert json.loads((tmp_path / "evaluation.json").read_text())["metrics"] == summary.metrics
    assert [len(step) for step in episodes_of(tmp_path, "evaluation")] == [3]
    assert not (tmp_path / "checkpoints").exists()
    assert not (tmp_path / "metrics.jsonl").exists()


def test_a_held_out_task_must_not_be_trained_on(model, tmp_path):
    with pytest.raises(BadSetting, match="24 tasks of coin are trained on and validated on"):
        train(coin_config(model, tmp_path, evaluation__before=True, evaluation__split="train"))


def test_deterministic_runs_are_equal_bit_for_bit(model, tmp_path):
    settings = {
        **CUT,
        "algorithm__estimator": "gae",
        "loss__epochs": 2,
        "run__deterministic": True,
        "run__threads": None,
    }
    for name in ("one", "two"):
        train(coin_config(model, tmp_path / name, rollout__concurrency=1 + 7 * (name == "two"), **settings))
    one, two = tmp_path / "one", tmp_path / "two"
    assert rows_of(one) == rows_of(two)
    assert episodes_of(one) == episodes_of(two)
    assert tensors_of(one, 2) == tensors_of(two, 2)


def test_the_curriculum_limits_the_sessions_and_is_logged(model, tmp_path):
    config = coin_config(model, tmp_path, run__steps=5, env__options={"turns": 4})
    config.algorithm.rounds.type, config.algorithm.rounds.values = "scaling_inter_stepwise", [1, 2, 4]
    config.algorithm.rounds.every = 2
    train(config)
    assert [row["rounds/limit"] for row in rows_of(tmp_path)] == [1.0, 1.0, 2.0, 2.0, 4.0]
    assert [{limit for _, _, _, limit, _ in step} for step in episodes_of(tmp_path)] == [{1}, {1}, {2}, {2}, {4}]
    assert [row["train/turns"] for row in rows_of(tmp_path)] == [1.0, 1.0, 2.0, 2.0, 4.0]
    assert rows_of(tmp_path)[-1].get("outcome/step_limit", 0.0) == 0.0


def test_a_greedy_episode_of_each_task_is_played_and_not_learned_from(model, tmp_path):
    train(coin_config(model, tmp_path, algorithm__estimator="remax", algorithm__zero_variance="keep"))
    [first, _] = rows_of(tmp_path)
    assert (first["train/episodes"], first["episodes/left"], first["tokens/trained"]) == (8.0, 8.0, 8.0)
    assert sum(v for k, v in first.items() if k.startswith("outcome/")) == 10.0
    greedy = [turns[0][1] for *_, turns in episodes_of(tmp_path)[0][::5]]
    assert len(greedy) == 2


def test_two_environments_share_the_tasks_by_weight_and_are_logged_apart(model, tmp_path):
    config = coin_config(model, tmp_path, batch__tasks_per_step=4, evaluation__before=True, evaluation__tasks=2)
    config.environments[0].weight = 3.0
    config.environments.append(replace(config.environments[0], weight=1.0, options={"turns": 2}))
    train(config)
    row = rows_of(tmp_path)[-1]
    assert (row["train/episodes/coin"], row["train/episodes/coin_2"]) == (12.0, 4.0)
    assert row["train/turns/coin_2"] == 2.0
    assert row["validation/coin/turns"] == 1.0
    assert row["validation/success"] == (row["validation/coin/success"] + row["validation/coin_2/success"]) / 2
    assert 0.0 < row["share/coin/tokens"] < 1.0


@pytest.mark.parametrize(
    ("settings", "error", "words"),
    [
        ({"env__base_url": "http://127.0.0.1:9"}, ServerUnreachable, "no server at http://127.0.0.1:9"),
        ({"rollout__max_episode_tokens": 512}, BadSetting, "more than the 256 positions"),
        ({"rollout__max_prompt_tokens": 8}, BadCall, "over max_prompt_tokens=8"),
        ({"batch__tasks_per_minibatch": 3}, BadSetting, "batch.tasks_per_minibatch=3 does not divide"),
        ({"env__split": "nowhere"}, BadCall, "nowhere"),
        ({"env__env": "coinn"}, BadCall, "coin"),
        ({"env__format": "odd"}, BadCall, "odd"),
        ({"rollout__engine": "vlm"}, BadSetting, "rollout.engine=vlm: did you mean vllm"),
        ({"rollout__engine_options": {"max_bach": 3}}, BadSetting, "max_bach is not an option of the engine hf"),
        ({"model__path": "/nowhere"}, BadSetting, "/nowhere"),
    ],
)
def test_bad_input_is_a_clear_error(model, tmp_path, settings, error, words):
    config = coin_config(model, tmp_path, **settings)
    with pytest.raises(error, match=words):
        train(config)
    assert not (tmp_path / "checkpoints").exists()


def test_the_engine_stops_where_the_template_ends_a_turn(tmp_path):
    from tiny_models import tiny_model

    folder = tiny_model(tmp_path / "m")
    for name in ("config.json", "generation_config.json"):  # as of a base model, whose EOS is not the chat's
        file = folder / name
        file.write_text(json.dumps(json.loads(file.read_text()) | {"eos_token_id": 0}))
    renderer = parts.make_renderer(coin_config(folder, tmp_path))
    assert set(renderer.stop_ids) == {0, 2}

    async def stop_ids():
        async with parts.make_engine(coin_config(folder, tmp_path), renderer.stop_ids) as engine:
            return engine.stop_ids

    assert asyncio.run(stop_ids()) == [0, 2]


def test_without_a_number_of_steps_a_run_passes_over_its_tasks(model, tmp_path):
    config = coin_config(model, tmp_path, run__steps=None, run__epochs=2, batch__tasks_per_step=16, batch__group_size=2)
    assert train(config).step == 3
    played = [task for step in episodes_of(tmp_path) for task, *_ in step[::2]]
    assert sorted(played) == sorted([f"coin/train/{i}" for i in range(24)] * 2)


def test_a_schedule_spans_the_passes_over_the_tasks(model, tmp_path):
    sizes = {"batch__tasks_per_step": 16, "batch__group_size": 2, "algorithm__zero_variance": "keep"}
    train(coin_config(model, tmp_path, run__steps=None, run__epochs=2, optim__schedule="linear", **sizes))
    assert [row["optim/lr"] for row in rows_of(tmp_path)] == pytest.approx([1e-3, 2e-3 / 3, 1e-3 / 3])


def test_a_run_is_complete_at_a_score_that_is_good_enough(model, tmp_path):
    settings = {"run__steps": 9, "evaluation__every": 2, "evaluation__tasks": 2, "evaluation__stop_at": 0.0}
    summary = train(coin_config(model, tmp_path, **settings))
    assert (summary.reason, summary.step) == ("complete", 2)
    assert train(coin_config(model, tmp_path, **settings)).reason == "already complete"
    settings["evaluation__stop_at"] = 2.0
    assert train(coin_config(model, tmp_path, **settings)).step == 9


def test_episodes_out_of_time_are_left_out_and_noted(model, tmp_path):
    settings = {"env__step_timeout_s": 1e-6, "run__steps": 1, "batch__tasks_per_step": 1, "stop__zero_groups": 5}
    summary = train(coin_config(model, tmp_path, **settings))
    assert (summary.reason, summary.updates) == ("complete", 0)
    [row] = rows_of(tmp_path)
    assert (row["outcome/time_limit"], row["episodes/not_trained_time_limit"], row["errors/rate"]) == (4.0, 4.0, 0.0)
    notes = (tmp_path / "notes.log").read_text()
    assert "step 1: 100% of the episodes were cut by environments[].step_timeout_s" in notes


def test_figures_go_to_every_tracker_and_into_a_picture(model, tmp_path, capsys):
    settings = {"run__trackers": ["console", "jsonl", "tensorboard"], "run__plots": True, "checkpoint__every": 1}
    train(coin_config(model, tmp_path / "run", checkpoint__dir=str(tmp_path / "kept"), **settings))
    assert [line.partition(":")[0] for line in capsys.readouterr().err.splitlines() if "success" in line] == [
        "step 1",
        "step 2",
    ]
    assert (tmp_path / "run" / "plots.png").read_bytes().startswith(b"\x89PNG")
    assert list((tmp_path / "run" / "tensorboard").glob("events.*"))
    assert [p.name for p in Checkpoints(tmp_path / "kept", keep=3).all()] == ["step-00000001", "step-00000002"]
    assert not (tmp_path / "run" / "checkpoints").exists()


def test_a_history_by_template_is_rendered_again_each_turn(model, tmp_path):
    config = coin_config(
        model, tmp_path, rollout__history="template", rollout__template_date="2026-02-03",
        rollout__template_options={"enable_thinking": False}, env__options={"turns": 3}, run__steps=1,
    )  # fmt: skip
    train(config)
    [record, *_] = read_jsonl(tmp_path / "rollouts" / "train-00000001.jsonl")
    described = record.agent["renderer"]
    assert (described["history"], described["date"]) == ("template", "2026-02-03")
    assert described["options"] == {"enable_thinking": False}
    assert record.steps == 3


def test_the_coefficient_of_a_kl_in_the_loss_is_that_of_the_controller(model, tmp_path):
    settings = {"placement": "loss", "estimator": "k2", "controller": "adaptive", "target": 1e-6, "horizon": 8}
    train(coin_config(model, tmp_path, run__steps=4, optim__lr=0.02, **{f"kl__{k}": v for k, v in settings.items()}))
    rows = rows_of(tmp_path)
    coefs = [row["kl/coef"] for row in rows]
    assert coefs[0] == 0.001
    assert len({*coefs}) > 1, "the controller moved it"
    for row in rows:
        expected = row["loss/policy"] + row["kl/coef"] * row["loss/kl"]
        assert row["loss/total"] == pytest.approx(expected, rel=1e-5, abs=1e-9)
    assert rows[-1]["loss/kl"] > 0
