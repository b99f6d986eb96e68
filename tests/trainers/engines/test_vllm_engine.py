"""The engine vllm against transformers: tied and untied, pushes by files and by bytes, and a process that dies.

One engine serves a module's tests; each test leaves it with the weights of the folder.
"""

import asyncio
import os
import signal
import sys
from pathlib import Path

import psutil
import pytest
import torch
from plain_learner import PlainLearner
from tiny_models import tiny_model
from vllm_python import NO_VLLM, vllm_python

from agentenv.errors import BadCall, ClientClosed, EpisodeCut
from agentenv.policy import Sampling
from trainers.config import ModelSettings, RolloutSettings, TrainConfig
from trainers.engines import vllm, vllm_worker
from trainers.engines.errors import EngineFailed, PushCheckFailed, PushFailed
from trainers.engines.push_check import check_push, check_push_stream
from trainers.settings import BadSetting

pytestmark = [pytest.mark.timeout(600)]
needs_vllm = pytest.mark.skipif(bool(NO_VLLM), reason=NO_VLLM)

PROMPTS = [[5, 6, 7], [9], list(range(20, 60)) * 4, [5, 6, 7, 8], [40, 41] * 9]
"""The third fills a block of the prefix cache."""
TOLERANCE = 3e-5


def model(folder: Path, *, tied: bool) -> Path:
    """vLLM's CPU attention wants heads of 32 or more."""
    return tiny_model(folder, tied=tied, hidden=64, heads=2, kv_heads=1)


def start(folder: Path, **options):
    return vllm.make(str(folder), python=vllm_python(), threads=1, **options)


def do(work):
    return asyncio.run(work)


async def all_at_once(engine, prompts=PROMPTS, **sampling):
    wanted = {"max_tokens": 8} | sampling
    return await asyncio.gather(*(engine.generate(p, Sampling(**{"seed": i} | wanted)) for i, p in enumerate(prompts)))


def check_equal(learner: PlainLearner, found, temperature: float) -> None:
    for prompt, sampled in zip(PROMPTS, found, strict=True):
        expected = learner.logprobs_of(prompt + sampled.token_ids, len(prompt), temperature)
        assert sampled.logprobs == pytest.approx(expected, abs=TOLERANCE)
        if temperature == 0:
            assert sampled.token_ids == learner.greedy(prompt, 8)


def processes_of(engine) -> list[psutil.Process]:
    return [p for p in psutil.process_iter() if _group(p.pid) == engine._process.pid]


def _group(pid: int) -> int:
    try:
        return os.getpgid(pid)
    except ProcessLookupError:
        return -1


@pytest.fixture(scope="module", params=[True, False], ids=["tied", "untied"])
def served(request, tmp_path_factory):
    """A folder and an engine on it."""
    folder = model(tmp_path_factory.mktemp("model"), tied=request.param)
    engine = start(folder)
    yield folder, engine
    do(engine.close())
    assert processes_of(engine) == []


@pytest.fixture(autouse=True)
def _one_thread():
    torch.set_num_threads(1)


@needs_vllm
def test_generate_push_generate_equals_transformers_for_a_tied_model(tmp_path):
    folder = model(tmp_path / "m", tied=True)
    learner = PlainLearner(folder)

    async def run():
        engine = start(folder)
        try:
            check_equal(learner, await all_at_once(engine, temperature=0.0), 0.0)
            learner.learn()
            await engine.push(learner.weights(), 1)
            after = await all_at_once(engine, temperature=0.0)
            check_equal(learner, after, 0.0)
            return after[0].policy_version
        finally:
            await engine.close()
            assert processes_of(engine) == []

    assert do(run()) == 1


@needs_vllm
@pytest.mark.slow
@pytest.mark.parametrize("temperature", [0.0, 0.7, 1.0])
def test_log_probabilities_are_those_of_one_plain_pass(served, temperature):
    folder, engine = served
    check_equal(PlainLearner(folder), do(all_at_once(engine, temperature=temperature)), temperature)


@needs_vllm
@pytest.mark.slow
@pytest.mark.parametrize("through", ["files", "bytes"])
def test_after_a_push_the_new_weights_sample_also_from_a_prompt_seen_before(served, through, monkeypatch):
    folder, engine = served
    monkeypatch.setattr(engine, "_through_files", through == "files")
    learner, old = PlainLearner(folder), PlainLearner(folder)
    learner.learn()

    async def run():
        before = await all_at_once(engine, temperature=0.0)
        await engine.push(learner.weights(), 5)
        after = await all_at_once(engine, temperature=0.0)
        await engine.push(old.weights(), 6)
        return before, after, await all_at_once(engine, temperature=0.0)

    before, after, back = do(run())
    check_equal(learner, after, 0.0)
    check_equal(old, back, 0.0)
    assert [s.token_ids for s in before] == [s.token_ids for s in back]
    assert [s.token_ids for s in before] != [s.token_ids for s in after]
    assert {s.policy_version for s in after} == {5}


@needs_vllm
@pytest.mark.slow
@pytest.mark.parametrize("temperature", [1.0, 0.7])
def test_the_push_check_passes_before_and_after_an_update(served, temperature):
    folder, engine = served
    learner = PlainLearner(folder, temperature)
    config = TrainConfig(
        model=ModelSettings(path=str(folder)), rollout=RolloutSettings(engine="vllm", temperature=temperature)
    )

    async def run():
        await check_push_stream(engine, learner, config)
        learner.learn()
        await engine.push(learner.weights(), 1)
        difference = await check_push(engine, learner, config)
        await engine.push(PlainLearner(folder).weights(), 0)
        return difference

    assert do(run()).max < TOLERANCE


@needs_vllm
@pytest.mark.slow
def test_a_head_that_is_not_packed_anew_is_found_by_the_push_check(tmp_path, monkeypatch):
    """The fault is vLLM's own: on the CPU a tied head stays as it was loaded."""
    source = Path(vllm_worker.__file__).read_text()
    line = "        self._agentenv_repack_tied_head()\n"
    assert line in source
    broken = tmp_path / "worker.py"
    broken.write_text(source.replace(line, ""))
    monkeypatch.setattr(vllm_worker, "__file__", str(broken))
    folder = model(tmp_path / "m", tied=True)
    learner = PlainLearner(folder)

    async def run():
        engine = start(folder)
        try:
            await check_push_stream(engine, learner, TrainConfig(model=ModelSettings(path=str(folder))))
        finally:
            await engine.close()

    with pytest.raises(PushCheckFailed, match="tied output head"):
        do(run())


@needs_vllm
@pytest.mark.slow
@pytest.mark.parametrize("temperature", [1.0, 0.6])
def test_score_equals_one_plain_pass(served, temperature):
    folder, engine = served
    tokens = PROMPTS[4]
    expected = PlainLearner(folder).logprobs_of(tokens, 3, temperature)
    assert do(engine.score(tokens, 3, temperature)) == pytest.approx(expected, abs=TOLERANCE)


@needs_vllm
@pytest.mark.slow
def test_seeds_decide_what_is_sampled(served):
    _, engine = served
    one, again, two = (do(all_at_once(engine, [[5, 6]], seed=seed)) for seed in (1, 1, 2**70 + 3))
    assert one == again
    assert one[0].token_ids != two[0].token_ids


@needs_vllm
@pytest.mark.slow
def test_a_sampled_end_of_sequence_is_kept(served, monkeypatch):
    _, engine = served
    monkeypatch.setattr(engine, "stop_ids", list(range(100)))
    for sampled in do(all_at_once(engine, max_tokens=200)):
        assert sampled.finish_reason == "stop"
        assert sampled.token_ids[-1] < 100
        assert len(sampled.token_ids) == len(sampled.logprobs)
        assert all(t >= 100 for t in sampled.token_ids[:-1])


@needs_vllm
@pytest.mark.slow
def test_the_context_ends_a_completion_and_then_refuses_a_prompt(served, monkeypatch):
    _, engine = served
    monkeypatch.setattr(engine, "stop_ids", [])
    whole = engine.context_tokens
    (full,) = do(all_at_once(engine, [[5] * (whole - 3)], max_tokens=50))
    assert (len(full.token_ids), full.finish_reason) == (3, "length")
    with pytest.raises(EpisodeCut, match=f"context_full: {whole} tokens fill the context of {whole}"):
        do(engine.generate([5] * whole, Sampling()))


@needs_vllm
@pytest.mark.slow
def test_a_short_request_does_not_wait_for_a_long_one(served, monkeypatch):
    _, engine = served
    monkeypatch.setattr(engine, "stop_ids", [])

    async def run():
        long = asyncio.create_task(engine.generate([5], Sampling(max_tokens=900)))
        await engine.generate([6], Sampling(max_tokens=2))
        await engine.generate([7], Sampling(max_tokens=2))
        early = not long.done()
        return early, len((await long).token_ids)

    assert do(run()) == (True, 900)


@needs_vllm
@pytest.mark.slow
def test_a_push_waits_for_nobody_and_a_cancelled_request_is_nobody(served, monkeypatch):
    folder, engine = served
    monkeypatch.setattr(engine, "stop_ids", [])
    weights = list(PlainLearner(folder).weights())

    async def run():
        request = asyncio.create_task(engine.generate([5], Sampling(max_tokens=900)))
        await engine.generate([6], Sampling(max_tokens=1))
        with pytest.raises(BadCall, match="with 1 requests under way"):
            await engine.push(weights, 1)
        request.cancel()
        await asyncio.gather(request, return_exceptions=True)
        await engine.push(weights, 2)
        return await engine.generate([6], Sampling(max_tokens=1))

    assert do(run()).policy_version == 2


@needs_vllm
@pytest.mark.slow
def test_a_broken_push_names_the_tensor_and_stops_the_engine_until_a_whole_one(served):
    folder, engine = served
    good = dict(PlainLearner(folder).weights())

    async def run():
        with pytest.raises(PushFailed, match=r"left out model\.norm\.weight"):
            await engine.push(((n, t) for n, t in good.items() if n != "model.norm.weight"), 1)
        with pytest.raises(PushFailed, match=r"not whole: the push left out model\.norm\.weight; push again"):
            await engine.generate([5], Sampling())
        with pytest.raises(PushFailed, match=r"module\.model\.norm\.weight is no parameter"):
            await engine.push([("module.model.norm.weight", good["model.norm.weight"])], 1)
        with pytest.raises(PushFailed, match=r"model\.norm\.weight has shape \(3,\); the engine's is \(64,\)"):
            await engine.push([("model.norm.weight", torch.zeros(3))], 1)
        await engine.push(good.items(), 2)
        return await engine.generate([5], Sampling(max_tokens=2))

    assert do(run()).policy_version == 2


@needs_vllm
@pytest.mark.slow
def test_a_process_that_dies_loses_its_requests_and_says_so(tmp_path):
    folder = model(tmp_path / "m", tied=True)

    async def run():
        engine = start(folder)
        try:
            engine.stop_ids = []
            await engine.generate([5], Sampling(max_tokens=1))
            requests = [asyncio.create_task(engine.generate([i], Sampling(max_tokens=900))) for i in (5, 6)]
            await engine.generate([7], Sampling(max_tokens=1))
            os.kill(engine._process.pid, signal.SIGKILL)
            for request in requests:
                with pytest.raises(EpisodeCut, match=r"infra_lost: the vLLM process ended \(signal SIGKILL\)"):
                    await request
            with pytest.raises(EpisodeCut, match="infra_lost"):
                await engine.generate([5], Sampling())
            with pytest.raises(EngineFailed, match="the vLLM process ended"):
                await engine.push(PlainLearner(folder).weights(), 1)
        finally:
            await engine.close()
        assert processes_of(engine) == []
        with pytest.raises(ClientClosed):
            await engine.generate([5], Sampling())

    do(run())


@needs_vllm
@pytest.mark.slow
def test_an_option_that_vllm_does_not_have_is_refused_by_name(tmp_path):
    async def run():
        engine = start(model(tmp_path / "m", tied=True), max_num_seq=3)
        try:
            await engine.generate([5], Sampling())
        finally:
            await engine.close()

    with pytest.raises(BadSetting, match="max_num_seq is not an option of vLLM; did you mean max_num_seqs"):
        do(run())


@needs_vllm
@pytest.mark.slow
def test_requests_at_close_are_lost_and_no_process_stays(tmp_path):
    async def run():
        engine = start(model(tmp_path / "m", tied=True))
        engine.stop_ids = []
        await engine.generate([5], Sampling(max_tokens=1))
        assert processes_of(engine)
        request = asyncio.create_task(engine.generate([5], Sampling(max_tokens=900)))
        await asyncio.sleep(0.05)
        await engine.close()
        await engine.close()
        assert processes_of(engine) == []
        with pytest.raises(EpisodeCut, match="infra_lost: the engine was closed"):
            await request

    do(run())


@pytest.fixture(scope="module")
def tied(tmp_path_factory) -> Path:
    return model(tmp_path_factory.mktemp("tied"), tied=True)


@pytest.mark.skipif(vllm_python() == sys.executable, reason="this interpreter has vLLM")
def test_an_interpreter_without_vllm_is_an_error_with_its_own_words(tied):
    async def run():
        engine = vllm.make(str(tied))
        try:
            await engine.push([], 1)
        finally:
            await engine.close()

    with pytest.raises(EngineFailed, match="No module named 'vllm'"):
        do(run())


def test_an_interpreter_that_is_not_there_is_refused(tied):
    with pytest.raises(BadSetting, match="cannot start python=/no/such/python"):
        vllm.make(str(tied), python="/no/such/python")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"logprobs_mode": "raw_logprobs"}, "logprobs_mode is set by the engine vllm itself"),
        ({"threads": 0}, "threads=0: must be at least 1"),
        ({"push_through": "magic"}, "choose from files, bytes"),
        ({"context_tokens": 4096}, "more than the 1024 positions"),
        ({"context_tokens": 64, "max_model_len": 64}, "context_tokens and max_model_len are one thing"),
    ],
)
def test_options_that_cannot_be_are_refused_before_anything_starts(tied, options, message):
    with pytest.raises(BadSetting, match=message):
        vllm.make(str(tied), **options)
