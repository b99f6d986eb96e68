"""Which tokens of a recorded episode are trained: masks, turns, segments, and what stands behind the last action."""

import asyncio

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scripted_engine import ScriptedEngine
from token_records import played, record, token_turn
from toy_tokenizers import CHATML, THINKING, chat_tokenizer, token_chat

from agentenv.agents.tokens import token_agent
from agentenv.errors import BadCall
from agentenv.pool import EnvPool
from agentenv.protocol import Outcome
from agentenv.render import Renderer
from agentenv.rollout import play
from agentenv.trajectory import Trajectory
from trainers.audit import audit_records
from trainers.episodes import episode_of, policy_version_of, segments_of


def test_three_turns_of_a_chat_are_masked_exactly_where_they_were_sampled():
    renderer = Renderer(token_chat())
    trajectory = played(renderer, ["a", "bc", "d"], [[200, 201, 1], [202, 1], [203, 204, 205]])
    (segment,) = episode_of(trajectory, renderer=renderer).segments
    opening = [2, 21, 30, 100, 1, 30, 2, 22, 30]
    second = [30, 2, 21, 30, 110, 111, 1, 30, 2, 22, 30]
    third = [30, 2, 21, 30, 112, 1, 30, 2, 22, 30]
    assert segment.tokens.tolist() == [*opening, 200, 201, 1, *second, 202, 1, *third, 203, 204, 205]
    assert len(segment) == 38
    assert np.flatnonzero(segment.mask).tolist() == [9, 10, 11, 23, 24, 35, 36, 37]
    assert segment.turn[segment.mask].tolist() == [0, 0, 0, 1, 1, 2, 2, 2]
    assert set(segment.turn[~segment.mask].tolist()) == {-1}
    assert segment.engine_logprobs[9:12].tolist() == [-0.125, -0.25, -0.375]
    assert not segment.engine_logprobs[~segment.mask].any()


def test_nothing_is_put_behind_a_last_turn_that_was_cut():
    renderer = Renderer(token_chat())
    (segment,) = episode_of(played(renderer, ["a"], [[203, 204, 205]]), renderer=renderer).segments
    assert segment.tokens.tolist()[-3:] == [203, 204, 205]
    assert segment.mask.tolist()[-3:] == [True] * 3


def test_a_cut_turn_gets_its_end_untrained_when_something_follows():
    renderer = Renderer(token_chat())
    (segment,) = episode_of(played(renderer, ["a", "b"], [[203], [204, 1]]), renderer=renderer).segments
    at = segment.tokens.tolist().index(203)
    assert segment.tokens.tolist()[at : at + 3] == [203, 1, 30]
    assert segment.mask.tolist()[at : at + 3] == [True, False, False]


def test_ids_of_a_text_that_tokenises_otherwise_are_trained_as_sampled():
    sampled = [[7, 9], [3, 4, 9], [7, 8, 6], [7, 5, 5, 6]]
    turns = [token_turn([2], ids, fresh=n == 0) for n, ids in enumerate(sampled)]
    (segment,) = segments_of(record(turns))
    assert segment.tokens[segment.mask].tolist() == [i for ids in sampled for i in ids]


def test_lengths_come_from_the_record_not_from_the_value_of_a_token():
    rows = [[200, 201, 1], [202, 203, 204, 205, 206], [207, 208]]
    opening = [5, 1, 6, 1]
    segments = [segments_of(record([token_turn(opening, row, fresh=True)]))[0] for row in rows]
    assert [s.sampled for s in segments] == [3, 5, 2]
    assert [s.mask.tolist() for s in segments] == [[False] * 4 + [True] * len(row) for row in rows]
    assert [s.tokens.tolist() for s in segments] == [opening + row for row in rows]


def test_a_fresh_prompt_opens_another_segment():
    renderer = Renderer(chat_tokenizer(THINKING), history="template")
    said = [renderer.reply("<think>hm</think>left"), renderer.reply("up"), renderer.reply("x")]
    trajectory = played(renderer, ["one", "two", "three"], said)
    first, second = segments_of(trajectory)
    assert set(first.turn[first.mask].tolist()) == {0}
    assert sorted(set(second.turn[second.mask].tolist())) == [1, 2]
    assert first.tokens[first.mask].tolist() == said[0]
    assert second.tokens[second.mask].tolist() == said[1] + said[2]


def test_an_episode_stopped_at_its_step_limit_carries_what_it_saw_last():
    renderer = Renderer(chat_tokenizer(CHATML))
    cut = played(renderer, ["one"], [renderer.reply("left")], outcome=Outcome.STEP_LIMIT, final="a wall")
    episode = episode_of(cut, renderer=renderer)
    assert renderer.tokenizer.decode(episode.final_tokens.tolist()) == (
        "\n<|im_start|>user\na wall<|im_end|>\n<|im_start|>assistant\n"
    )
    size = len(episode.segments[0]) + len(episode.final_tokens)
    assert episode_of(cut, renderer=renderer, max_tokens=size).final_tokens is not None
    assert episode_of(cut, renderer=renderer, max_tokens=size - 1).final_tokens is None


@pytest.mark.parametrize("outcome", [Outcome.SUCCESS, Outcome.FAILURE, Outcome.CONTEXT_FULL])
def test_other_ends_carry_nothing_behind_the_last_action(outcome):
    renderer = Renderer(chat_tokenizer(CHATML))
    done = played(renderer, ["one"], [renderer.reply("left")], outcome=outcome)
    assert episode_of(done, renderer=renderer).final_tokens is None


def test_a_record_without_tokens_or_with_too_few_logprobs_is_refused():
    with pytest.raises(BadCall, match="toy/train/0, turn 1: the record has no tokens"):
        segments_of(record([token_turn([1], [2], fresh=True), token_turn([1], [2], logprobs=None)]))
    with pytest.raises(BadCall, match="2 tokens with 1 log-prob"):
        segments_of(record([token_turn([1], [2, 3], fresh=True, logprobs=[-1.0])]))
    with pytest.raises(BadCall, match="does not have"):
        segments_of(record([token_turn([1], [2])]))


def test_a_batch_has_one_version_of_the_weights():
    one, two = (record([token_turn([1], [2], fresh=True, policy_version=v)], index=v) for v in (1, 2))
    assert policy_version_of([one, one]) == 1
    with pytest.raises(BadCall, match="1 in toy/train/1, turn 0; 2 in toy/train/2, turn 0"):
        policy_version_of([one, two])
    with pytest.raises(BadCall, match="no policy_version"):
        policy_version_of([record([token_turn([1], [2], fresh=True, policy_version=None)])])
    with pytest.raises(BadCall, match="not 0"):
        policy_version_of([])


TURNS = st.lists(
    st.tuples(st.lists(st.integers(0, 9), max_size=4), st.lists(st.integers(0, 9), max_size=4), st.booleans()),
    min_size=1,
    max_size=6,
)


@settings(max_examples=100, deadline=None)
@given(turns=TURNS)
def test_each_sampled_token_is_in_one_segment_once_and_through_the_file_too(turns):
    made = [
        token_turn(added, sampled, fresh=fresh or n == 0, logprobs=[-float(n + 1)] * len(sampled))
        for n, (added, sampled, fresh) in enumerate(turns)
    ]
    episode = episode_of(Trajectory.from_json(record(made).to_json()))
    for number, (_, sampled, _) in enumerate(turns):
        held = [s for s in episode.segments if number in s.turn]
        assert len(held) == (1 if sampled else 0)
        for segment in held:
            at = segment.turn == number
            assert segment.mask[at].all()
            assert segment.tokens[at].tolist() == sampled
            assert (segment.engine_logprobs[at] == -(number + 1)).all()
    assert episode.sampled == sum(len(sampled) for _, sampled, _ in turns)
    assert sum(len(s) for s in episode.segments) == sum(len(a) + len(t) for a, t, _ in turns)


def test_an_episode_played_through_a_session_is_recorded_audited_and_trained_as_sampled():
    renderer = Renderer(chat_tokenizer(CHATML))
    said = [renderer.reply("move left"), renderer.reply("up", ended=False), renderer.reply("move down")]
    engine = ScriptedEngine(said, stops=renderer.stop_ids)

    async def run():
        agent = token_agent(engine, renderer, format="plain", max_turn_tokens=32)
        async with EnvPool("maze", size=1, max_steps=3) as pool:
            return await play(pool, pool.spec.task_set().get("train", 0).ref(), agent)

    trajectory = Trajectory.from_json(asyncio.run(run()).to_json())
    assert trajectory.outcome is Outcome.STEP_LIMIT
    assert audit_records([trajectory], renderer).findings == []
    (segment,) = episode_of(trajectory, renderer=renderer).segments
    assert segment.tokens.tolist() == [*engine.prompts[2], *said[2]]
    assert segment.tokens[segment.mask].tolist() == [i for ids in said for i in ids]
    final = episode_of(trajectory, renderer=renderer).final_tokens
    assert trajectory.final_observation.strip() in renderer.tokenizer.decode(final.tolist())
