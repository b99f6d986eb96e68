"""The conversation of an episode as ids: what the engine saw, what was sampled, what was added in between."""

import asyncio
import hashlib
from dataclasses import replace

import pytest
from agent_play import SPEC, play
from hypothesis import given, settings
from hypothesis import strategies as st
from scripted_engine import ScriptedEngine
from toy_tokenizers import CHATML, PREFILLED_THINKING, THINKING, chat_tokenizer, letters_tokenizer

from agentenv.agents.tokens import TokenPolicy, sampling_seed, token_agent
from agentenv.errors import BadCall, EpisodeCut
from agentenv.policy import Sampling
from agentenv.protocol import Outcome
from agentenv.render import Renderer, prompt_hash

TOY = (
    "{% for m in messages %}<start>{{ '<user>' if m['role'] == 'user' else '<assistant>' }}"
    "{{ m['content'] }}<end>{% endfor %}{% if add_generation_prompt %}<start><assistant>{% endif %}"
)


def policy_of(engine, renderer, **settings):
    settings = {"max_prompt_tokens": 400, "max_episode_tokens": 2000, **settings}
    return TokenPolicy(engine, renderer, Sampling(max_tokens=64), **settings)


def converse(policy, observations):
    """Completions of a conversation in which the agent shows each observation."""

    async def run():
        said, completions = [], []
        for observation in observations:
            said.append({"role": "user", "content": observation})
            completions.append(await policy.complete(said, seed=1))
            said.append({"role": "assistant", "content": completions[-1].text})
        return completions

    return asyncio.run(run())


def test_ids_that_would_be_tokenised_otherwise_stay_as_sampled():
    renderer = Renderer(letters_tokenizer(TOY))
    sampled = [[7, 9], [3, 4, 9], [7, 8, 6], [7, 5, 5, 6]]
    engine = ScriptedEngine(sampled)
    done = converse(policy_of(engine, renderer), ["hello"] * 4)
    assert [c.text for c in done] == ["hello"] * 4
    assert [c.token_ids for c in done] == sampled
    for number in range(3):
        longer = engine.prompts[number + 1]
        assert longer[: len(engine.prompts[number]) + len(sampled[number])] == [
            *engine.prompts[number],
            *sampled[number],
        ]


def test_what_an_observation_ends_with_never_melts_into_what_is_sampled():
    bare = (
        "{% for m in messages %}<start>{{ m['content'] }}{% if m['role'] == 'assistant' %}<end>{% endif %}{% endfor %}"
    )
    renderer = Renderer(letters_tokenizer(bare))
    engine = ScriptedEngine([[9, 1], [9, 1]], stops=[1])
    converse(policy_of(engine, renderer), ["he", "he"])
    assert engine.prompts == [[2, 7], [2, 7, 9, 1, 2, 7]]


def test_a_prompt_is_what_was_before_and_the_ids_that_were_added():
    renderer = Renderer(chat_tokenizer(CHATML))
    engine = ScriptedEngine(
        [renderer.reply("left"), renderer.reply("up", ended=False), renderer.reply("x")], stops=[316]
    )
    done = converse(policy_of(engine, renderer), ["one", "two", "three"])
    assert [c.fresh for c in done] == [True, False, False]
    ids = []
    for completion, prompt in zip(done, engine.prompts, strict=True):
        ids += completion.prompt_ids
        assert ids == prompt
        assert (completion.prompt_len, completion.notes["prompt_hash"]) == (len(ids), prompt_hash(ids))
        ids += completion.token_ids
    assert done[0].prompt_ids == renderer.prompt([{"role": "user", "content": "one"}])
    assert done[2].prompt_ids[0] == 316
    assert [c.notes.get("cut") for c in done] == [None, True, None]
    assert "".join(renderer.show(ids)) == (
        "<|im_start|>user\none<|im_end|>\n<|im_start|>assistant\nleft<|im_end|>\n"
        "<|im_start|>user\ntwo<|im_end|>\n<|im_start|>assistant\nup<|im_end|>\n"
        "<|im_start|>user\nthree<|im_end|>\n<|im_start|>assistant\nx<|im_end|>"
    )


def test_reasoning_is_kept_as_sampled_and_not_shown_to_the_parser():
    renderer = Renderer(chat_tokenizer(THINKING))
    engine = ScriptedEngine([renderer.reply("<think>hm</think>left")], stops=[316])
    first, second = converse(policy_of(engine, renderer), ["one", "two"])
    assert (first.text, first.raw) == ("left", "<think>hm</think>left")
    assert second.fresh is False
    assert first.token_ids == renderer.reply("<think>hm</think>left")


def test_reasoning_that_the_header_opens_is_reasoning_also_when_it_is_never_closed():
    renderer = Renderer(chat_tokenizer(PREFILLED_THINKING))
    engine = ScriptedEngine([renderer.reply("hm</think>left"), renderer.reply("go left and", ended=False)], stops=[316])
    first, second = converse(policy_of(engine, renderer), ["one", "two"])
    assert first.text == "left"
    assert second.text == ""


def test_history_template_splits_where_the_template_writes_earlier_tokens_otherwise():
    renderer = Renderer(chat_tokenizer(THINKING), history="template")
    engine = ScriptedEngine(
        [renderer.reply("<think>hm</think>left"), renderer.reply("up"), renderer.reply("x")], stops=[316]
    )
    done = converse(policy_of(engine, renderer), ["one", "two", "three"])
    assert [c.fresh for c in done] == [True, True, False]
    assert done[1].notes["broke_at"] == len(done[0].prompt_ids)
    assert "hm" not in "".join(renderer.show(done[1].prompt_ids))
    assert engine.prompts[1] == done[1].prompt_ids


def test_a_rewritten_history_is_a_wrong_call_under_append():
    renderer = Renderer(chat_tokenizer(CHATML))
    policy = policy_of(ScriptedEngine([renderer.reply("left")], stops=[316]), renderer)
    converse(policy, ["one"])
    with pytest.raises(BadCall, match="only grows"):
        converse(policy, ["another"])


def test_an_opening_over_its_limit_is_a_wrong_call_that_names_the_size():
    renderer = Renderer(chat_tokenizer(CHATML))
    size = len(renderer.prompt([{"role": "user", "content": "one"}]))
    engine = ScriptedEngine([renderer.reply("left")])
    with pytest.raises(BadCall, match=f"has {size} tokens, over max_prompt_tokens={size - 1}"):
        converse(policy_of(engine, renderer, max_prompt_tokens=size - 1), ["one"])
    with pytest.raises(BadCall, match="no room"):
        converse(policy_of(engine, renderer, max_episode_tokens=size), ["one"])
    assert engine.prompts == []


def test_a_conversation_that_reaches_its_limit_is_cut_as_context_full():
    renderer = Renderer(chat_tokenizer(CHATML))
    size = len(renderer.prompt([{"role": "user", "content": "one"}]))
    engine = ScriptedEngine([[5] * 64])
    policy = policy_of(engine, renderer, max_episode_tokens=size + 10)
    with pytest.raises(EpisodeCut) as cut:
        converse(policy, ["one", "two"])
    assert cut.value.outcome == Outcome.CONTEXT_FULL
    assert [s.max_tokens for s in engine.samplings] == [10]


def test_the_engines_context_bounds_a_turn_too():
    renderer = Renderer(chat_tokenizer(CHATML))
    size = len(renderer.prompt([{"role": "user", "content": "one"}]))
    engine = ScriptedEngine([[5] * 64], context_tokens=size + 3)
    assert len(converse(policy_of(engine, renderer), ["one"])[0].token_ids) == 3


def test_an_empty_completion_goes_on_with_the_turn_end():
    renderer = Renderer(chat_tokenizer(CHATML))
    engine = ScriptedEngine([[], renderer.reply("x")], stops=[316])
    first, second = converse(policy_of(engine, renderer), ["one", "two"])
    assert (first.text, first.token_ids) == ("", [])
    assert second.prompt_ids[0] == 316


def test_every_request_of_a_run_has_a_seed_of_its_own_and_always_the_same():
    base = dict(run_seed=0, step=3, task="maze/train/7", member=2, attempt=0, turn=1)
    seed = sampling_seed(**base)
    changed = dict(run_seed=1, step=4, task="maze/train/8", member=3, attempt=1, turn=2)
    others = [sampling_seed(**{**base, name: value}) for name, value in changed.items()]
    assert seed == int(hashlib.sha256(b'[0,3,"maze/train/7",2,0,1]').hexdigest()[:15], 16)
    assert len({seed, *others}) == 7
    assert 0 <= seed < 2**60


def test_the_seeds_of_an_episode_are_those_of_its_caller():
    renderer = Renderer(chat_tokenizer(CHATML))
    engine = ScriptedEngine([renderer.reply("left")], stops=[316])
    converse(policy_of(engine, renderer, seed_of=lambda turn: 100 + turn), ["one", "two"])
    assert [s.seed for s in engine.samplings] == [100, 101]


WIN = ["open left", "open right", "open left"]


def test_the_format_plain_takes_the_whole_completion_as_the_action():
    renderer = Renderer(chat_tokenizer(CHATML))
    engine = ScriptedEngine([renderer.reply(f" {text}\n") for text in WIN], stops=[316])
    moves = play(token_agent(engine, renderer, format="plain"))
    assert [m.action.text for m in moves] == WIN
    assert engine.prompts[0] == renderer.prompt([{"role": "user", "content": "Two doors, 3 rooms to go."}])


def test_the_format_react_opens_with_the_envs_prompt():
    renderer = Renderer(chat_tokenizer(CHATML))
    engine = ScriptedEngine([renderer.reply(f"Thought: go\nAction: {text}") for text in WIN], stops=[316])
    agent = token_agent(engine, renderer, max_prompt_tokens=2000)
    moves = play(agent)
    assert [m.action.text for m in moves] == WIN
    assert "Three rooms with two doors each" in renderer.tokenizer.decode(engine.prompts[0])
    described = agent.described_in(SPEC)
    assert (described["format"], described["prompt"]["format"]) == ("react@1", "react@1")
    assert token_agent(engine, renderer, format="plain").described_in(SPEC)["prompt"]["format"] == "plain@1"


def test_two_episodes_of_an_agent_have_different_seeds_and_the_same_ones_again():
    renderer = Renderer(chat_tokenizer(CHATML))

    def seeds(seed):
        engine = ScriptedEngine([renderer.reply(text) for text in WIN], stops=[316])
        play(token_agent(engine, renderer, format="plain", seed=5), seed=seed)
        return [s.seed for s in engine.samplings]

    assert seeds(1) == seeds(1) != seeds(2)


def test_a_cut_plain_completion_is_still_an_action():
    renderer = Renderer(chat_tokenizer(CHATML))
    engine = ScriptedEngine([renderer.reply("open left", ended=False)], stops=[316])
    moves = play(token_agent(engine, renderer, format="plain"), steps=1)
    assert moves[0].action.text == "open left"
    assert moves[0].completion.notes["cut"] is True


@settings(max_examples=40, deadline=None)
@given(
    turns=st.lists(st.lists(st.integers(0, 324), max_size=5), min_size=1, max_size=4),
    shown=st.lists(st.text(max_size=8), min_size=4, max_size=4),
)
def test_whatever_is_sampled_each_prompt_extends_all_before_it(turns, shown):
    renderer = Renderer(chat_tokenizer(CHATML))
    engine = ScriptedEngine(turns, stops=[316])
    done = converse(policy_of(engine, renderer), shown[: len(turns)])
    ids = []
    for completion, prompt, sampled in zip(done, engine.prompts, turns, strict=True):
        assert prompt == [*ids, *completion.prompt_ids]
        assert completion.token_ids == sampled
        ids = [*prompt, *sampled]


@pytest.mark.parametrize(
    ("format", "text"),
    [("function_calling", '{"name": "open", "arguments": {"side": "left"}}'), ("code_as_action", "open('left')")],
)
def test_calls_of_functions_are_formats_of_training_too(format, text):
    schema = {"type": "object", "properties": {"side": {"type": "string"}}, "required": ["side"]}
    entry = {"name": "open", "description": "Open a door.", "text": "open {side}", "parameters": schema}
    renderer = Renderer(chat_tokenizer(CHATML))
    engine = ScriptedEngine([renderer.reply(text)], stops=renderer.stop_ids)
    agent = token_agent(engine, renderer, format=format, max_prompt_tokens=4000, max_episode_tokens=8000)
    [move] = play(agent, spec=replace(SPEC, functions=(entry,)), steps=1)
    assert move.action.text == "open left"
    assert "open(side: str): Open a door." in renderer.decode(engine.prompts[0])
    assert agent.describe["format"] == f"{format}@1"
