"""From records to rewards, and the table of outcomes."""

import asyncio
import math
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentenv.agents import make_agent
from agentenv.pool import EnvPool
from agentenv.protocol import Outcome, TaskRef
from agentenv.registry import Concurrency, EnvSpec
from agentenv.rollout import rollout
from agentenv.trajectory import Trajectory, Turn
from trainers.algorithms.rewards import MissingReward, bootstraps, keeps, normalizes, refills, turn_rewards
from trainers.config import EnvironmentSettings, LossSettings, RewardSettings, TrainConfig

SPEC = EnvSpec(
    id="toy",
    version="1",
    gym_name="Toy-v0",
    title="toy",
    entry="nowhere:Toy",
    tasks="nowhere:tasks",
    concurrency=Concurrency.INLINE,
    max_steps=5,
    success_rule="none",
    action_grammar="none",
    reward_range=(-1.0, 3.0),
    return_range=(-5.0, 15.0),
)


def record(*rewards, success=True, score=None, outcome=Outcome.SUCCESS):
    turns = [Turn(observation="o", action="a", reward=r) for r in rewards]
    return Trajectory(
        task=TaskRef(id="toy/train/7", env="toy", split="train", index=7),
        env="toy",
        env_version="1",
        agent={},
        outcome=outcome,
        success=success,
        reward=0.0,
        last_reward=0.0,
        score=score,
        steps=len(turns),
        turns=turns,
    )


def rewards_of(trajectory, source="sum", *, normalize=False, spec=SPEC, **reward):
    return turn_rewards(
        trajectory,
        env=EnvironmentSettings(env="toy", reward=source),
        reward=RewardSettings(**reward),
        spec=spec,
        normalize=normalize,
    )


@pytest.mark.parametrize(
    ("source", "whole", "by_turn"),
    [
        ("sum", 3.5, [1.0, 0.5, 2.0]),
        ("last", 2.0, [0, 0, 2.0]),
        ("success", 1.0, [0, 0, 1.0]),
        ("score", 40.0, [0, 0, 40.0]),
    ],
)
def test_each_source_by_episode_and_by_turn(source, whole, by_turn):
    episode = record(1.0, 0.5, 2.0, score=40.0)
    assert rewards_of(episode, source) == [0, 0, whole]
    assert rewards_of(episode, source, placement="turn") == by_turn
    assert rewards_of(episode, source, scale=0.1) == pytest.approx([0, 0, whole / 10])


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("sum", (3.5 + 5) / 20),  # of the card's range of returns
        ("last", (2.0 + 1) / 4),  # of the card's range of one step's reward
        ("success", 1.0),
        ("score", 40.0),
    ],
)
def test_sum_and_last_are_mapped_from_the_cards_range(source, expected):
    episode = record(1.0, 0.5, 2.0, score=40.0)
    for placement in ("outcome", "turn"):
        found = rewards_of(episode, source, normalize=True, placement=placement)
        assert sum(found) == pytest.approx(expected)
    assert rewards_of(episode, source, normalize=True, scale=2.0)[-1] == pytest.approx(2 * expected)


@pytest.mark.parametrize(("source", "ends"), [("sum", (-5.0, 15.0)), ("last", (-1.0, 3.0))])
def test_the_ends_of_the_range_become_zero_and_one(source, ends):
    assert [rewards_of(record(r), source, normalize=True) for r in ends] == [[0.0], [1.0]]


def test_by_turn_the_shift_of_the_range_stands_on_the_last_turn():
    found = rewards_of(record(1.0, 0.0, 2.0), normalize=True, placement="turn")
    assert found == pytest.approx([1 / 20, 0, 2 / 20 + 5 / 20])


@settings(deadline=None)
@given(st.lists(st.floats(-1, 3), min_size=1, max_size=5), st.booleans(), st.floats(0.1, 10))
def test_the_placement_changes_no_sum(rewards, normalize, scale):
    by_turn, at_end = (
        rewards_of(record(*rewards), normalize=normalize, scale=scale, placement=p) for p in ("turn", "outcome")
    )
    assert sum(by_turn) == pytest.approx(sum(at_end), abs=1e-9)
    assert not any(at_end[:-1])
    assert len(by_turn) == len(at_end) == len(rewards)


def test_several_environments_are_normalized_unless_told_otherwise():
    one, two = [EnvironmentSettings(env="a")], [EnvironmentSettings(env="a"), EnvironmentSettings(env="b")]
    assert not normalizes(TrainConfig(environments=one))
    assert normalizes(TrainConfig(environments=two))
    assert normalizes(TrainConfig(environments=one, reward=RewardSettings(normalize=True)))
    assert not normalizes(TrainConfig(environments=two, reward=RewardSettings(normalize=False)))


@pytest.mark.parametrize(
    ("episode", "source", "what"),
    [
        (record(1.0), "score", r"the score \(environments\[\]\.reward=score\) is None"),
        (record(1.0, score=math.nan), "score", "is nan"),
        (record(0.0, math.nan, 1.0), "sum", "the reward of turn 1 is nan"),
        (record(math.inf), "last", "the reward of the last turn is inf"),
        (record(None), "sum", "the reward of turn 0 is None"),
        (record(), "sum", "without a turn"),
    ],
)
def test_a_missing_reward_is_an_error_that_names_the_task(episode, source, what):
    with pytest.raises(MissingReward, match=f"toy/train/7: .*{what}"):
        rewards_of(episode, source)


@pytest.mark.parametrize("wrong", [(-math.inf, 1.0), (0.0, math.inf), (1.0, 1.0)])
def test_a_range_that_cannot_be_mapped_is_an_error_that_names_the_card(wrong):
    with pytest.raises(MissingReward, match="the card of toy has return_range"):
        rewards_of(record(1.0), normalize=True, spec=replace(SPEC, return_range=wrong))
    assert rewards_of(record(1.0), "success", normalize=True, spec=replace(SPEC, return_range=wrong)) == [1.0]


# --- outcomes

LEARNED = {Outcome.SUCCESS, Outcome.FAILURE, Outcome.STEP_LIMIT, Outcome.CONTEXT_FULL}
REFILLED = {Outcome.ENV_ERROR, Outcome.INFRA_LOST, Outcome.AGENT_ERROR}


@pytest.mark.parametrize("outcome", list(Outcome))
def test_the_table_of_outcomes(outcome):
    assert keeps(outcome, LossSettings()) == (outcome in LEARNED)
    assert keeps(outcome, LossSettings(mask_context_full=True)) == (outcome in LEARNED - {Outcome.CONTEXT_FULL})
    assert refills(outcome) == (outcome in REFILLED)
    assert bootstraps(outcome) == (outcome is Outcome.STEP_LIMIT)
    assert not (keeps(outcome, LossSettings()) and refills(outcome))


def played(max_steps):
    async def run():
        async with EnvPool("textcraft", size=1, max_steps=max_steps) as pool:
            [episode] = await rollout(pool, await pool.task_refs("train", 1), make_agent("oracle"))
            return episode, pool.spec

    return asyncio.run(run())


def test_a_turn_limit_counts_turns_and_leaves_success_on_the_last_one_alone():
    needed = len(played(None)[0].turns)
    assert needed > 1
    for limit, outcome, reward in (
        (needed - 1, Outcome.STEP_LIMIT, 0.0),
        (needed, Outcome.SUCCESS, 1.0),
        (needed + 1, Outcome.SUCCESS, 1.0),
    ):
        episode, spec = played(limit)
        assert len(episode.turns) == min(limit, needed)
        assert episode.outcome is outcome
        found = rewards_of(episode, spec=spec)
        assert found == [*[0.0] * (len(episode.turns) - 1), reward]
        assert (keeps(outcome, LossSettings()), bootstraps(outcome)) == (True, limit < needed)
        assert (outcome.terminated, outcome.truncated) == (limit >= needed, limit < needed)


def test_a_time_limit_is_neither_learned_from_nor_played_again():
    assert not keeps(Outcome.TIME_LIMIT, LossSettings())
    assert not refills(Outcome.TIME_LIMIT)
