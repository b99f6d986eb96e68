"""What a run says to its engine, besides `rollout.engine_options`."""

import asyncio
from pathlib import Path

import psutil
import pytest
from tiny_models import tiny_model
from vllm_python import NO_VLLM, vllm_python

from agentenv.errors import EpisodeCut
from agentenv.policy import Sampling
from trainers.config import TrainConfig
from trainers.engines import push_check
from trainers.parts import make_engine, make_renderer, options_of
from trainers.settings import BadSetting


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tiny_model(tmp_path_factory.mktemp("model"), hidden=64, heads=2, kv_heads=1, context=512)


def config_of(folder: Path, engine: str, **rollout: object) -> TrainConfig:
    config = TrainConfig()
    config.model.path = str(folder)
    config.rollout.engine = engine
    for name, value in ({"max_episode_tokens": 128} | rollout).items():
        setattr(config.rollout, name, value)
    return config


def test_vllm_keeps_room_for_an_episode_and_no_more(folder):
    assert options_of(config_of(folder, "vllm")) == {"context_tokens": 128}


def test_an_evaluation_with_a_limit_over_the_positions_of_the_model_gets_those(folder):
    assert options_of(config_of(folder, "vllm", max_episode_tokens=4096)) == {"context_tokens": 512}


def test_a_push_check_fits_beside_tiny_episodes(folder):
    assert options_of(config_of(folder, "vllm", max_episode_tokens=4)) == {"context_tokens": push_check.CONTEXT}


@pytest.mark.parametrize("given", [{"context_tokens": 64}, {"max_model_len": 256}])
def test_a_context_that_the_engine_is_given_stays(folder, given):
    assert options_of(config_of(folder, "vllm", engine_options=given)) == given


@pytest.mark.parametrize("engine", ["hf", "vllm"])
def test_the_threads_of_the_run_are_those_of_the_engine_unless_it_has_its_own(folder, engine):
    config = config_of(folder, engine)
    config.run.threads = 3
    assert options_of(config)["threads"] == 3
    config.rollout.engine_options = {"threads": 2}
    assert options_of(config)["threads"] == 2


def test_an_engine_of_another_package_is_told_nothing_that_it_may_not_know(folder):
    config = config_of(folder, "theirs", engine_options={"speed": 9})
    config.run.threads = 3
    assert options_of(config) == {"speed": 9}


def test_a_folder_without_a_model_is_named(tmp_path):
    with pytest.raises(BadSetting, match=r"is no Hugging Face folder: it has no config\.json"):
        options_of(config_of(tmp_path, "vllm"))


@pytest.mark.skipif(bool(NO_VLLM), reason=NO_VLLM)
@pytest.mark.slow
@pytest.mark.timeout(600)
def test_threads_context_and_stop_ids_of_a_run_reach_the_process_of_vllm(folder):
    """The template's ids end turns, also where the model's folder does not have them."""
    config = config_of(folder, "vllm", engine_options={"python": vllm_python()})
    config.run.threads = 1
    stops = [*make_renderer(config).stop_ids, *range(20, 120)]

    async def run():
        async with make_engine(config, stops) as engine:
            asked = [engine.generate([5], Sampling(seed=i, max_tokens=100)) for i in range(8)]
            found = await asyncio.gather(*asked)
            (longest,) = await asyncio.gather(engine.generate([5] * 127, Sampling(temperature=0.0)))
            with pytest.raises(EpisodeCut, match="context_full: 128 tokens fill the context of 128"):
                await engine.generate([5] * 128, Sampling())
            return found, longest, psutil.Process(engine._process.pid).environ()["OMP_NUM_THREADS"]

    found, longest, threads = asyncio.run(run())
    assert threads == "1"
    for sampled in found:
        assert sampled.finish_reason == "stop"
        assert sampled.token_ids[-1] in stops
        assert not set(sampled.token_ids[:-1]) & set(stops)
    assert max(len(s.token_ids) for s in found) > 1
    assert len(longest.token_ids) == 1
