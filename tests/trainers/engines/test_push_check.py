"""The push check against engines that lose weights in the ways that engines do."""

import asyncio
from pathlib import Path

import pytest
import torch
from plain_learner import PlainLearner
from tiny_models import tiny_model

from trainers.config import ModelSettings, RolloutSettings, TrainConfig
from trainers.engines import hf
from trainers.engines.errors import PushCheckFailed
from trainers.engines.push_check import TOKENS, check_push, check_push_stream, tolerance_of


class Lossy:
    """An engine that changes what is pushed on its way."""

    def __init__(self, engine, change) -> None:
        self.engine, self.change = engine, change

    def __getattr__(self, name):
        return getattr(self.engine, name)

    async def push(self, weights, version):
        await self.engine.push(self.change(weights), version)


@pytest.fixture(scope="module", params=[True, False], ids=["tied", "untied"])
def folder(request, tmp_path_factory) -> Path:
    return tiny_model(tmp_path_factory.mktemp("model"), tied=request.param)


@pytest.fixture(scope="module")
def untied(tmp_path_factory) -> Path:
    return tiny_model(tmp_path_factory.mktemp("untied"), tied=False)


def config_of(path: Path, **rollout) -> TrainConfig:
    return TrainConfig(model=ModelSettings(path=str(path)), rollout=RolloutSettings(**rollout))


def with_engine(path: Path, use, **options):
    async def run():
        engine = hf.make(str(path), threads=1, **options)
        try:
            return await use(engine)
        finally:
            await engine.close()

    return asyncio.run(run())


@pytest.mark.parametrize("temperature", [1.0, 0.7])
def test_an_honest_engine_passes_at_the_start_and_after_updates(folder, temperature):
    learner, config = PlainLearner(folder, temperature), config_of(folder, temperature=temperature)

    async def run(engine):
        probes = await check_push_stream(engine, learner, config)
        first = await check_push(engine, learner, config)
        learner.learn()
        await engine.push(learner.weights(), 1)
        return probes, first, await check_push(engine, learner, config)

    probes, first, second = with_engine(folder, run)
    tied = "tied output head" in [p.role for p in probes]
    head = "tied output head" if tied else "output head"
    assert [p.role for p in probes] == ["embedding", head, "first layer", "last layer", "final norm"]
    assert [p.names[0] for p in probes[2:4]] == [f"model.layers.{i}.mlp.down_proj.weight" for i in (0, 1)]
    for difference in (first, second):
        assert difference.tokens >= TOKENS
        assert difference.mean <= difference.max < 1e-5


def test_a_learner_that_has_moved_on_is_noticed(folder):
    learner, config = PlainLearner(folder), config_of(folder)

    async def run(engine):
        learner.learn()
        with pytest.raises(PushCheckFailed, match="after the push of version 0 engine and learner differ"):
            await check_push(engine, learner, config)

    with_engine(folder, run)


LOST = [
    "model.embed_tokens.weight",
    "lm_head.weight",
    "model.layers.0.mlp.down_proj.weight",
    "model.layers.1.mlp.down_proj.weight",
    "model.norm.weight",
]


@pytest.mark.parametrize("lost", LOST)
def test_a_tensor_that_does_not_arrive_is_named(untied, lost):
    learner, config = PlainLearner(untied), config_of(untied)
    old = {n: p.detach().clone() for n, p in learner.model.named_parameters()}

    async def run(engine):
        lossy = Lossy(engine, lambda weights: ((n, old[n] if n == lost else t) for n, t in weights))
        with pytest.raises(PushCheckFailed, match=f"pushing {lost.replace('.', '[.]')} .* does not reach the engine"):
            await check_push_stream(lossy, learner, config)

    with_engine(untied, run)


def test_a_stale_tied_head_is_found_though_the_embedding_arrives(tmp_path):
    tied = tiny_model(tmp_path / "m", tied=True)
    learner, config = PlainLearner(tied), config_of(tied)

    async def run(engine):
        model = engine._decoder.model
        model.lm_head.weight = torch.nn.Parameter(model.lm_head.weight.clone(), requires_grad=False)
        lossy = Lossy(engine, lambda weights: [*weights, ("lm_head.weight", model.lm_head.weight)])
        with pytest.raises(PushCheckFailed, match="tied output head"):
            await check_push_stream(lossy, learner, config)

    with_engine(tied, run)


def test_weights_that_stay_behind_after_the_probes_are_noticed(untied):
    learner, config = PlainLearner(untied), config_of(untied)
    pushes = []

    async def run(engine):
        def keep_scaled(weights):
            pushes.append(1)
            late = len(pushes) > 4
            return ((n, t * 1.5 if late and n == "model.norm.weight" else t) for n, t in weights)

        with pytest.raises(PushCheckFailed, match="do not bring the engine's log-probabilities back"):
            await check_push_stream(Lossy(engine, keep_scaled), learner, config)

    with_engine(untied, run)


def test_a_bfloat16_engine_has_its_own_tolerance_and_a_setting_overrides_it(folder):
    learner = PlainLearner(folder)

    async def run(engine):
        assert tolerance_of(engine, config_of(folder)) == 0.05
        difference = await check_push(engine, learner, config_of(folder))
        assert 1e-4 < difference.mean < 0.05
        with pytest.raises(PushCheckFailed, match="limit 1e-06"):
            await check_push(engine, learner, config_of(folder, push_tolerance=1e-6))

    with_engine(folder, run, dtype="bfloat16")


def test_completions_that_end_at_once_still_give_enough_tokens(folder):
    learner = PlainLearner(folder)

    async def run(engine):
        engine._decoder.stop_ids = frozenset(range(1000))
        return await check_push(engine, learner, config_of(folder))

    assert with_engine(folder, run).tokens == TOKENS
