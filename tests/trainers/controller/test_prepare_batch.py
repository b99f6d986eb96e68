"""From a phase to a batch and its figures: who is in, by which weights, and what is counted."""

import pytest
from rollout_records import coin_room, phase, played

from agentenv.errors import BadCall
from trainers.collect import GREEDY
from trainers.config import EnvironmentSettings, ModelSettings, TrainConfig
from trainers.figures import step_figures, timed_out
from trainers.prepare import batch_of, needs_old


def config_of(**algorithm: object) -> TrainConfig:
    config = TrainConfig(model=ModelSettings(path="m"), environments=[EnvironmentSettings(env="coin")])
    for name, value in algorithm.items():
        setattr(config.algorithm, name, value)
    return config


def batch(*episodes, config: TrainConfig | None = None, rooms=None, **more):
    return batch_of(phase(*episodes, **more), rooms or [coin_room()], config or config_of(), None, step=3)


def test_what_trains_is_in_and_the_rest_is_counted():
    found = batch(
        played(0, 0), played(0, 1, "failure", rewards=(0.0,)), played(0, 2, "step_limit", rewards=(0.5, 0.5)),
        played(0, 3, "context_full", rewards=(0.0,)), played(1, 0, "time_limit"), played(1, 1, "env_error"),
        played(1, 1, "infra_lost", attempt=1), cancelled=2,
    )  # fmt: skip
    assert [(e.group, e.member, e.outcome.value) for e in found.episodes] == [
        (0, 0, "success"), (0, 1, "failure"), (0, 2, "step_limit"), (0, 3, "context_full"),
    ]  # fmt: skip
    assert [e.reward for e in found.episodes] == [1.0, 0.0, 1.0, 0.0]
    assert found.counts == {"lost_env_error": 1, "lost_infra_lost": 1, "cancelled": 2, "not_trained_time_limit": 1}
    assert (found.step, found.policy_version) == (3, 0)


def test_a_batch_of_two_weight_versions_is_refused():
    with pytest.raises(BadCall, match=r"one policy_version, not 2.*0 in coin/train/0.*1 in coin/train/1"):
        batch(played(0, version=0), played(1, version=1))


def test_the_greedy_episode_is_a_baseline_and_no_member():
    found = batch(played(0, GREEDY, rewards=(0.25,)), played(0, 0), played(1, 0), config=config_of(estimator="remax"))
    assert [(e.group, e.member, e.baseline) for e in found.episodes] == [(0, 0, 0.25), (1, 0, None)]


def test_a_greedy_episode_by_other_weights_is_found():
    with pytest.raises(BadCall, match="one policy_version, not 2"):
        batch(played(0, GREEDY, version=4), played(0, 0, version=5))


def test_nothing_played_is_an_empty_batch():
    found = batch(played(0, 0, "infra_lost", rewards=()))
    assert found.episodes == []
    assert found.counts == {"lost_infra_lost": 1}


def test_environments_that_stand_twice_are_told_apart():
    config = config_of()
    config.environments.append(EnvironmentSettings(env="coin"))
    rooms = [coin_room(), coin_room("coin_2", reward="success")]
    collected = phase(played(0, 0), played(1, 0, rewards=(0.5,), env=1))
    found = batch_of(collected, rooms, config, None, step=1)
    assert [(e.env, e.reward) for e in found.episodes] == [("coin", 1.0), ("coin_2", 1.0)]
    figures = step_figures(collected, found, rooms, config, step=1)
    assert figures["train/return/coin"] == 1.0
    assert figures["train/return/coin_2"] == 0.5


def test_figures_tell_how_episodes_ended_and_where_they_were_lost():
    config, rooms = config_of(), [coin_room(max_steps=7)]
    collected = phase(
        played(0, 0, rewards=(0.0, 1.0)), played(0, 1, "failure", rewards=(0.0,)), played(0, GREEDY, "step_limit"),
        played(1, 0, "time_limit"), played(1, 1, "env_error", rewards=(0.0,)), played(1, 1, "env_error", rewards=()),
        cancelled=1,
    )  # fmt: skip
    figures = step_figures(collected, batch_of(collected, rooms, config, None, step=1), rooms, config, step=1)
    assert {k: v for k, v in figures.items() if k.startswith("outcome/")} == {
        "outcome/success": 1.0, "outcome/failure": 1.0, "outcome/step_limit": 1.0, "outcome/time_limit": 1.0,
        "outcome/env_error": 2.0, "outcome/cancelled": 1.0,
    }  # fmt: skip
    assert figures["errors/rate/coin"] == 2 / 6
    assert figures["errors/turn_0/coin"] == 1 / 6, "one of the six tries was lost in its first turn"
    assert figures["errors/turn_1/coin"] == 1 / 2, "two came to their second turn, one was lost there"
    assert figures["train/episodes"] == 3.0, "two that ended, one out of time; the greedy one and the lost apart"
    assert figures["train/success"] == 1 / 3
    assert figures["rounds/limit"] == 7.0
    assert timed_out(collected) == 1 / 4


def test_an_old_pass_is_made_only_where_it_can_matter():
    config = config_of()
    assert not needs_old(config, 1)
    config.loss.epochs = 2
    assert needs_old(config, 1)
    config = config_of()
    config.batch.tasks_per_minibatch = 4
    assert needs_old(config, 1)
    config.batch.tasks_per_minibatch = 16
    assert not needs_old(config, 1)
    config.kl.placement = "reward"
    assert needs_old(config, 1)
    config = config_of(estimator="gae")
    config.critic.warmup_steps = 2
    assert [needs_old(config, step) for step in (1, 2, 3)] == [True, True, False], "while only the critic learns"
