"""The engine hf against transformers' own forward pass and generate, tied and untied, with every cache on and off."""

import asyncio
import threading
from itertools import chain
from pathlib import Path

import pytest
import torch
from plain_learner import PlainLearner
from tiny_models import save_model, tiny_model
from transformers import AutoModelForCausalLM, JambaConfig, Lfm2Config, Qwen2Config

from agentenv.errors import BadCall, ClientClosed, EpisodeCut
from agentenv.policy import Sampled, Sampling
from trainers.engines import hf
from trainers.engines.errors import EngineFailed, PushFailed
from trainers.settings import BadSetting

PROMPTS = [[5, 6, 7], [9], [20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30], [5, 6, 7, 8], [40, 41] * 9]


@pytest.fixture(scope="module", params=[True, False], ids=["tied", "untied"])
def folder(request, tmp_path_factory) -> Path:
    return tiny_model(tmp_path_factory.mktemp("model"), tied=request.param)


@pytest.fixture(scope="module")
def tied(tmp_path_factory) -> Path:
    return tiny_model(tmp_path_factory.mktemp("tied"), tied=True)


@pytest.fixture(autouse=True)
def _one_thread():
    torch.set_num_threads(1)


def with_engine(folder: Path, use, **options):
    """What `use(engine)` returns."""

    async def run():
        engine = hf.make(str(folder), **options)
        try:
            return await use(engine)
        finally:
            await engine.close()

    return asyncio.run(run())


async def all_at_once(engine, prompts, **sampling) -> list[Sampled]:
    return await asyncio.gather(
        *(engine.generate(p, Sampling(**{"seed": i, "max_tokens": 12} | sampling)) for i, p in enumerate(prompts))
    )


def test_greedy_tokens_are_those_of_transformers_generate(folder):
    found = with_engine(folder, lambda e: all_at_once(e, PROMPTS, temperature=0.0))
    learner = PlainLearner(folder)
    assert [s.token_ids for s in found] == [learner.greedy(p, 12) for p in PROMPTS]


@pytest.mark.parametrize("temperature", [0.0, 0.7, 1.0])
def test_log_probabilities_are_those_of_one_plain_pass(folder, temperature):
    found = with_engine(folder, lambda e: all_at_once(e, PROMPTS, temperature=temperature))
    for prompt, sampled in zip(PROMPTS, found, strict=True):
        expected = PlainLearner(folder).logprobs_of(prompt + sampled.token_ids, len(prompt), temperature)
        assert sampled.logprobs == pytest.approx(expected, abs=1e-5)
        assert sampled.policy_version == 0


def test_what_a_request_samples_does_not_depend_on_its_neighbours(folder):
    together = with_engine(folder, lambda e: all_at_once(e, PROMPTS))
    alone = [
        with_engine(folder, lambda e, i=i: e.generate(PROMPTS[i], Sampling(seed=i, max_tokens=12))) for i in range(5)
    ]
    assert [s.token_ids for s in together] == [s.token_ids for s in alone]


def test_in_lockstep_order_and_neighbours_change_no_bit(tied):
    async def both_ways(engine):
        forth = await all_at_once(engine, PROMPTS)
        back = [await engine.generate(PROMPTS[i], Sampling(seed=i, max_tokens=12)) for i in reversed(range(5))]
        return forth, back[::-1]

    forth, back = with_engine(tied, both_ways, lockstep=True)
    assert forth == back


def test_seeds_decide_what_is_sampled(tied):
    async def sample(engine):
        seeds = [1, 1, 2, 3]
        return await asyncio.gather(*(engine.generate([5, 6], Sampling(seed=s, max_tokens=8)) for s in seeds))

    one, again, two, three = with_engine(tied, sample)
    assert one == again
    assert len({tuple(s.token_ids) for s in (one, two, three)}) == 3


def test_the_next_turn_from_the_cache_equals_the_whole_prompt_anew(folder):
    async def turns(engine):
        said = []
        histories = [list(p) for p in PROMPTS]
        for turn in range(3):
            found = await all_at_once(engine, histories, max_tokens=6)
            said.append(found)
            for i, (history, sampled) in enumerate(zip(histories, found, strict=True)):
                history += sampled.token_ids + [50 + turn] * (1 + i)
        return said, len(engine._decoder.store)

    cached, entries = with_engine(folder, turns)
    fresh, none = with_engine(folder, turns, cache_mb=0)
    assert (entries, none) == (len(PROMPTS), 0)
    for a, b in zip(chain(*cached), chain(*fresh), strict=True):
        assert a.token_ids == b.token_ids
        assert a.logprobs == pytest.approx(b.logprobs, abs=1e-5)


def test_requests_join_while_others_are_under_way(folder):
    async def staggered(engine):
        tasks = []
        for i, prompt in enumerate(PROMPTS):
            tasks.append(asyncio.create_task(engine.generate(prompt, Sampling(seed=i, max_tokens=12))))
            await asyncio.sleep(0.01)
        return await asyncio.gather(*tasks)

    staggered_found = with_engine(folder, staggered, max_batch=3)
    together = with_engine(folder, lambda e: all_at_once(e, PROMPTS))
    assert [s.token_ids for s in staggered_found] == [s.token_ids for s in together]


def test_sliding_windows_see_the_same_tokens_with_and_without_neighbours(tmp_path):
    sliding = tiny_model(tmp_path / "m", use_sliding_window=True, sliding_window=4, max_window_layers=1)
    found = with_engine(sliding, lambda e: all_at_once(e, PROMPTS))
    for prompt, sampled in zip(PROMPTS, found, strict=True):
        expected = PlainLearner(sliding).logprobs_of(prompt + sampled.token_ids, len(prompt))
        assert sampled.logprobs == pytest.approx(expected, abs=1e-5)


def test_the_event_loop_goes_on_during_a_pass(tied):
    async def count(engine):
        started, go_on = threading.Event(), threading.Event()
        engine._decoder.model.register_forward_pre_hook(lambda *_: (started.set(), go_on.wait(20), None)[2])
        request = asyncio.create_task(engine.generate([5], Sampling(max_tokens=1)))
        await asyncio.to_thread(started.wait)
        running = not request.done()  # we are here while the pass stands still
        go_on.set()
        return running, len((await request).token_ids)

    assert with_engine(tied, count) == (True, 1)


def test_a_sampled_end_of_sequence_is_kept_and_ends_the_turn(tied):
    async def sample(engine):
        engine._decoder.stop_ids = frozenset(range(100))
        return await all_at_once(engine, PROMPTS, max_tokens=200)

    for sampled in with_engine(tied, sample):
        assert sampled.finish_reason == "stop"
        assert sampled.token_ids[-1] < 100
        assert all(t >= 100 for t in sampled.token_ids[:-1])


def test_stop_ids_are_those_of_the_generation_config(tied, tmp_path):
    several = tiny_model(tmp_path / "m")
    (several / "generation_config.json").write_text('{"eos_token_id": [2, 0], "top_k": 1, "temperature": 0.1}')
    assert with_engine(tied, _stop_ids) == [2]
    assert with_engine(several, _stop_ids) == [2, 0]


async def _stop_ids(engine):
    return engine.stop_ids


def test_the_context_ends_a_completion_and_then_refuses_a_prompt(tied):
    async def fill(engine):
        full = await engine.generate([5] * 13, Sampling(max_tokens=50))
        with pytest.raises(EpisodeCut, match="context_full: 16 tokens fill the context of 16"):
            await engine.generate([5] * 16, Sampling())
        return full

    full = with_engine(tied, fill, context_tokens=16)
    assert (len(full.token_ids), full.finish_reason) == (3, "length")


def test_top_k_one_is_greedy_and_log_probabilities_stay_whole(tied):
    async def sample(engine):
        greedy = await all_at_once(engine, PROMPTS, temperature=0.0)
        top_k = await all_at_once(engine, PROMPTS, top_k=1)
        top_p = await all_at_once(engine, PROMPTS, top_p=1e-9)
        return greedy, top_k, top_p

    greedy, top_k, top_p = with_engine(tied, sample)
    assert [s.token_ids for s in greedy] == [s.token_ids for s in top_k] == [s.token_ids for s in top_p]
    assert greedy[0].logprobs == pytest.approx(top_k[0].logprobs, abs=1e-5)


def test_score_equals_what_generate_said(folder):
    async def both(engine):
        sampled = await engine.generate(PROMPTS[2], Sampling(seed=1, temperature=0.7, max_tokens=9))
        return sampled, await engine.score(PROMPTS[2] + sampled.token_ids, len(PROMPTS[2]), 0.7)

    sampled, scored = with_engine(folder, both)
    assert scored == pytest.approx(sampled.logprobs, abs=1e-5)


def test_after_a_push_the_new_weights_sample(folder):
    learner = PlainLearner(folder)
    learner.learn()

    async def before_and_after(engine):
        before = await all_at_once(engine, PROMPTS, temperature=0.0)
        await engine.push(learner.weights(), 7)
        return before, await all_at_once(engine, PROMPTS, temperature=0.0)

    before, after = with_engine(folder, before_and_after)
    assert [s.token_ids for s in before] != [s.token_ids for s in after]
    assert [s.token_ids for s in after] == [learner.greedy(p, 12) for p in PROMPTS]
    for prompt, sampled in zip(PROMPTS, after, strict=True):
        assert sampled.policy_version == 7
        expected = learner.logprobs_of(prompt + sampled.token_ids, len(prompt))
        assert sampled.logprobs == pytest.approx(expected, abs=1e-5)


def test_a_tied_head_may_be_pushed_by_either_name_or_both(tied):
    learner = PlainLearner(tied)
    learner.learn()
    new = learner.model
    by_head = {("lm_head.weight" if n == "model.embed_tokens.weight" else n): p for n, p in new.named_parameters()}
    both = new.state_dict()

    async def pushed(engine):
        await engine.push(by_head.items(), 1)
        one = await engine.generate(PROMPTS[0], Sampling(max_tokens=6))
        await engine.push(both.items(), 1)
        return one, await engine.generate(PROMPTS[0], Sampling(max_tokens=6))

    one, two = with_engine(tied, pushed)
    assert one == two


def test_a_broken_push_names_the_tensor_and_stops_the_engine_until_a_whole_one(tied):
    good = dict(AutoModelForCausalLM.from_pretrained(tied, dtype=torch.float32).named_parameters())
    lacking = {n: p for n, p in good.items() if n != "model.norm.weight"}

    async def pushes(engine):
        with pytest.raises(PushFailed, match=r"left out model\.norm\.weight"):
            await engine.push(lacking.items(), 1)
        with pytest.raises(PushFailed, match=r"not whole: the push left out model\.norm\.weight; push again"):
            await engine.generate([5], Sampling())
        with pytest.raises(PushFailed, match=r"module\.model\.norm\.weight is no parameter"):
            await engine.push([("module.model.norm.weight", good["model.norm.weight"])], 1)
        with pytest.raises(PushFailed, match=r"model\.norm\.weight has shape \(3,\); the engine's is \(32,\)"):
            await engine.push([("model.norm.weight", torch.zeros(3))], 1)
        await engine.push(good.items(), 2)
        return await engine.generate([5], Sampling(max_tokens=2))

    assert with_engine(tied, pushes).policy_version == 2


def test_a_push_with_a_request_under_way_is_refused_but_not_after_a_cancellation(tied):
    weights = list(AutoModelForCausalLM.from_pretrained(tied, dtype=torch.float32).named_parameters())

    async def push(engine):
        request = asyncio.create_task(engine.generate([5], Sampling(max_tokens=900)))
        await asyncio.sleep(0.05)
        with pytest.raises(BadCall, match="with 1 requests under way"):
            await engine.push(weights, 1)
        request.cancel()
        await asyncio.gather(request, return_exceptions=True)
        await engine.push(weights, 1)
        return await engine.generate([5], Sampling(max_tokens=3))

    assert with_engine(tied, push).policy_version == 1


def test_a_failing_pass_reaches_its_requests_and_the_next_ones_work(tied):
    async def fail_once(engine):
        def broken(*_):
            handle.remove()
            raise RuntimeError("out of memory")

        handle = engine._decoder.model.register_forward_pre_hook(broken)
        found = await asyncio.gather(
            *(engine.generate(p, Sampling(max_tokens=3)) for p in PROMPTS), return_exceptions=True
        )
        return found, await engine.generate([5], Sampling(max_tokens=3))

    found, after = with_engine(tied, fail_once)
    assert all(isinstance(e, EngineFailed) and "RuntimeError: out of memory" in str(e) for e in found)
    assert len(after.token_ids) == 3


def test_weights_that_are_not_numbers_are_an_error_and_no_tokens(tied):
    weights = [(n, p * float("nan")) for n, p in AutoModelForCausalLM.from_pretrained(tied).named_parameters()]

    async def sample(engine):
        await engine.push(weights, 1)
        with pytest.raises(EngineFailed, match="not finite"):
            await engine.generate([5], Sampling())

    with_engine(tied, sample)


def test_close_ends_what_runs_and_forbids_further_use(tied):
    async def close(engine):
        request = asyncio.create_task(engine.generate([5], Sampling(max_tokens=900)))
        await asyncio.sleep(0.05)
        await engine.close()
        await engine.close()
        with pytest.raises(EpisodeCut, match="infra_lost: the engine was closed"):
            await request
        with pytest.raises(ClientClosed):
            await engine.generate([5], Sampling())

    with_engine(tied, close)
    assert not [t.name for t in threading.enumerate() if t.name.startswith("hf-engine")]


def test_an_engine_outlives_the_event_loop_that_used_it_first(tied):
    engine = hf.make(str(tied))
    one = asyncio.run(engine.generate([5], Sampling(max_tokens=4)))
    two = asyncio.run(engine.generate([5], Sampling(max_tokens=4)))
    assert one == two
    asyncio.run(engine.close())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cach_mb": 3}, "cach_mb is not an option of the engine hf; did you mean cache_mb?"),
        ({"dtype": "int3"}, "choose from auto, float32"),
        ({"max_batch": "many"}, "max_batch"),
        ({"context_tokens": 4096}, "more than the 1024 positions"),
    ],
)
def test_an_option_that_is_not_one_is_refused_by_name(tied, options, message):
    with pytest.raises(BadSetting, match=message):
        hf.make(str(tied), **options)


def test_a_model_whose_state_is_no_keys_and_values_is_refused(tmp_path):
    sizes = {"vocab_size": 310, "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2,
             "num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 128}  # fmt: skip
    jamba = JambaConfig(**sizes, num_experts=1, attn_layer_period=2, attn_layer_offset=1, mamba_dt_rank=4)
    for config, words in (
        (jamba, "keeps keys and values only; JambaForCausalLM has another state; use vllm"),
        (Lfm2Config(**sizes, layer_types=["conv", "full_attention"]), r"has layers of \['conv'\]; use vllm"),
    ):
        folder = save_model(config, tmp_path / config.model_type)
        with pytest.raises(BadSetting, match=words):
            hf.make(str(folder))
    Qwen2Config(**sizes).save_pretrained(tmp_path / "bare")
    with pytest.raises(BadSetting, match=r"the engine hf cannot load .*: Error no file named model\.safetensors"):
        hf.make(str(tmp_path / "bare"))


def test_a_folder_without_a_model_is_refused(tmp_path):
    with pytest.raises(BadSetting, match=r"has no config\.json"):
        hf.make(str(tmp_path))


@pytest.mark.parametrize("ids", [[], [-1], [99999]])
def test_odd_prompts_are_a_wrong_call(tied, ids):
    async def ask(engine):
        with pytest.raises(BadCall):
            await engine.generate(ids, Sampling())

    with_engine(tied, ask)
