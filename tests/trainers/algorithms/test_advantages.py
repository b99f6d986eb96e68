"""Advantages of whole batches: which episodes, which tokens, and the numbers of the reference."""

import math
from dataclasses import replace

import numpy as np
import pytest
import reference_rl as reference
from hypothesis import given, settings
from hypothesis import strategies as st
from made_batches import Plan, batch_of, dense, episode_of, joined, plans, splits

from agentenv.protocol import Outcome
from trainers.algorithms.advantages import assign, keeps_zero_groups
from trainers.algorithms.chain import BadBatch
from trainers.config import (
    AlgorithmSettings,
    EnvironmentSettings,
    KlSettings,
    LossSettings,
    TrainConfig,
)

ESTIMATORS = ("gae", "grpo", "rloo", "reinforce_plus_plus", "remax")


def config_of(estimator="grpo", *, kl="none", loss=None, **algorithm):
    return TrainConfig(
        environments=[EnvironmentSettings(env="maze")],
        algorithm=AlgorithmSettings(estimator=estimator, **algorithm),
        kl=KlSettings(placement=kl),
        loss=loss or LossSettings(),
    )


def assigned(plans, config, *, kl_coef=0.0, cuts=None):
    return assign(batch_of(plans, cuts=cuts), config, kl_coef=kl_coef)


def at_positions(row):
    """A row of the reference as it stands in an array."""
    return [0.0 if x is None else x for x in row]


# --- exact cases


def one_row(rewards, mask, values=None, **changes):
    """A plan of one-token turns as the cases give them: each run of unsampled tokens is an observation."""
    turns, own, seen = [], [], 0
    for reward, sampled in zip(rewards, mask, strict=True):
        if sampled:
            turns.append((seen, 1))
            own.append(reward)
            seen = 0
        else:
            seen += 1
    episode = episode_of(Plan(turns=turns, rewards=own, **changes))
    if values is not None:
        [segment] = episode.segments
        segment.values[:] = np.array(values)[: len(segment)]
    batch = batch_of([])
    batch.episodes.append(episode)
    return batch


@pytest.mark.parametrize("garbage", [100.0, math.nan])
def test_a_value_where_nothing_was_sampled_never_counts(garbage):
    plan = Plan(turns=[(0, 1), (0, 1)], rewards=[0, 1])
    episode = episode_of(plan)
    [segment] = episode.segments
    arrays = {n: np.append(getattr(segment, n), garbage) for n in ("engine_logprobs", "old_logprobs", "ref_logprobs")}
    segment = replace(
        segment,
        tokens=np.arange(3),
        mask=np.array([True, True, False]),
        turn=np.array([0, 1, -1]),
        values=np.array([0, 0, garbage], np.float32),
        **arrays,
    )
    batch = replace(batch_of([]), episodes=[replace(episode, segments=[segment])])
    [found] = assign(batch, config_of("gae", lam=0.95, whiten="none"), kl_coef=0.0).batch.segments
    np.testing.assert_allclose(found.advantages, [0.95, 1.0, 0], rtol=1e-6)
    np.testing.assert_allclose(found.returns, [0.95, 1.0, 0], rtol=1e-6)


@pytest.mark.parametrize(
    ("outcome", "after", "advantages", "returns", "unknown"),
    [
        (Outcome.FAILURE, None, [0.00455845, -0.0951, -0.2], [0.50455845, 0.5049, 0.5], 0),
        (Outcome.STEP_LIMIT, 0.8, [0.705114328, 0.649776, 0.592], [1.205114328, 1.249776, 1.292], 0),
        # A real end on the last allowed turn is an end, whatever the critic says of the state after it.
        (Outcome.SUCCESS, 0.8, [0.00455845, -0.0951, -0.2], [0.50455845, 0.5049, 0.5], 0),
        (Outcome.CONTEXT_FULL, 0.8, [0.00455845, -0.0951, -0.2], [0.50455845, 0.5049, 0.5], 0),
        (Outcome.STEP_LIMIT, None, [0.00455845, -0.0951, -0.2], [0.50455845, 0.5049, 0.5], 1),
    ],
)
def test_only_a_step_limit_goes_on_with_a_value(outcome, after, advantages, returns, unknown):
    batch = one_row([0, 0, 0.5], [1, 1, 1], [0.5, 0.6, 0.7], outcome=outcome, after=after)
    found = assign(batch, config_of("gae", gamma=0.99, lam=0.95, whiten="none"), kl_coef=0.0)
    [segment] = found.batch.segments
    np.testing.assert_allclose(segment.advantages, advantages, rtol=1e-5)
    np.testing.assert_allclose(segment.returns, returns, rtol=1e-5)
    assert found.metrics["episodes/truncated"] == float(outcome.truncated)
    assert found.metrics["episodes/truncated_without_value"] == unknown


@pytest.mark.parametrize("estimator", ["grpo", "rloo", "remax", "reinforce_plus_plus"])
def test_without_a_critic_nothing_is_bootstrapped(estimator):
    cut = [
        Plan(turns=[(1, 2)], rewards=[r], outcome=Outcome.STEP_LIMIT, after=9.0, baseline=0.0, member=r) for r in (0, 1)
    ]
    ended = [replace(p, outcome=Outcome.FAILURE, after=None) for p in cut]
    with_limit, with_end = (assigned(p, config_of(estimator)).batch for p in (cut, ended))
    for a, b in zip(with_limit.segments, with_end.segments, strict=True):
        np.testing.assert_array_equal(a.advantages, b.advantages)


@pytest.mark.parametrize(
    ("rewards", "mask", "gamma", "expected"),
    [
        ([0, 0, 1], [1, 0, 1], 0.5, [0.5, 0, 1.0]),
        ([0, 0, 0, 0, 0, 1], [1, 1, 0, 0, 1, 1], 1, [1, 1, 0, 0, 1, 1]),
        ([0, 0, 0, 0, 0, 1], [1, 1, 0, 0, 1, 1], 0.9, [0.729, 0.81, 0, 0, 0.9, 1.0]),
    ],
)
def test_a_reward_reaches_actions_before_an_observation(rewards, mask, gamma, expected):
    batch = one_row(rewards, mask)
    [found] = assign(batch, config_of("reinforce_plus_plus", gamma=gamma, whiten="none"), kl_coef=0.0).batch.segments
    np.testing.assert_allclose(found.advantages, expected, rtol=1e-6)


def test_returns_are_whitened_over_sampled_tokens_alone():
    batch = one_row([0, 0, 0, 0, 0, 1], [1, 1, 0, 0, 1, 1])
    [found] = assign(batch, config_of("reinforce_plus_plus", gamma=0.9), kl_coef=0.0).batch.segments
    np.testing.assert_allclose(found.advantages, [-1.120338, -0.426285, 0, 0, 0.344884, 1.201739], atol=1e-6)


def test_whitening_takes_the_whole_batch_together():
    pair = [Plan(turns=[(1, 3)], rewards=[r], member=r) for r in (1, 0)]
    good, bad = assigned(pair, config_of("reinforce_plus_plus")).batch.segments
    np.testing.assert_allclose(good.advantages, [0, *[0.912871] * 3], atol=1e-6)
    np.testing.assert_allclose(bad.advantages, [0, *[-0.912871] * 3], atol=1e-6)


def test_whitening_by_environment_keeps_their_scales_apart():
    quiet = [Plan(turns=[(1, 3)], rewards=[r], member=r, env="maze") for r in (1, 0)]
    loud = [Plan(turns=[(1, 3)], rewards=[100 * r], member=r, group=1, env="wordle") for r in (1, 0)]
    found = assigned([*quiet, *loud], config_of("reinforce_plus_plus", whiten="env")).batch
    for episode in found.episodes:
        sign = 1 if episode.reward else -1
        np.testing.assert_allclose(episode.segments[0].advantages[1:], [sign * 0.912871] * 3, atol=1e-6)


# --- the reference


def expected_of(batch, config, kl_coef):
    """By episode: advantages and returns of the slow formulas, before whitening."""
    algorithm, rows = config.algorithm, []
    penalty = kl_coef if config.kl.placement == "reward" else 0.0
    for episode in batch.episodes:
        row = dense(episode)
        rewards = [
            r - penalty * k if m else 0.0 for r, k, m in zip(row["rewards"], row["k1"], row["mask"], strict=True)
        ]
        rows.append(row | {"rewards": rewards, "after": episode.truncated_value or 0.0})
    factors = {"gamma": algorithm.gamma, "lam": algorithm.lam}
    advantages, returns = [], [None] * len(rows)
    if algorithm.estimator == "gae":
        for i, row in enumerate(rows):
            args = (row["rewards"], row["values"], row["mask"])
            if algorithm.gae_unit == "turn":
                gains, targets = reference.gae_turns(*args, row["turn"], after=row["after"], **factors)
            else:
                gains = reference.gae(*args, after=row["after"], **factors)
                targets = [None if a is None else a + v for a, v in zip(gains, row["values"], strict=True)]
            advantages.append(gains)
            returns[i] = targets
    elif algorithm.estimator == "reinforce_plus_plus":
        advantages = [reference.token_returns(r["rewards"], r["mask"], algorithm.gamma) for r in rows]
    else:
        by_group = {}
        for i, episode in enumerate(batch.episodes):
            by_group.setdefault(episode.group, []).append(i)
        gain = {}
        for members in by_group.values():
            totals = [sum(rows[i]["rewards"]) for i in members]
            if algorithm.estimator == "grpo":
                gains = reference.grpo(totals, normalize=algorithm.std_normalize)
            elif algorithm.estimator == "rloo":
                gains = reference.rloo(totals)
            else:
                gains = [t - batch.episodes[members[0]].baseline for t in totals]
            gain |= dict(zip(members, gains, strict=True))
        advantages = [[gain[i] if m else None for m in rows[i]["mask"]] for i in range(len(rows))]
    return advantages, returns


setups = st.fixed_dictionaries(
    {
        "estimator": st.sampled_from(ESTIMATORS),
        "gae_unit": st.sampled_from(["token", "turn"]),
        "gamma": st.sampled_from([1.0, 0.9, 0.0]),
        "lam": st.sampled_from([1.0, 0.95, 0.0]),
        "std_normalize": st.booleans(),
        "whiten": st.sampled_from(["batch", "none"]),
        "zero_variance": st.just("keep"),
        "kl": st.sampled_from(["none", "reward"]),
    }
)


@settings(deadline=None)
@given(plans(), setups, st.sampled_from([0.0, 0.1]))
def test_every_estimator_agrees_with_the_reference(made, setting, kl_coef):
    config, batch = config_of(**setting), batch_of(made)
    advantages, returns = expected_of(batch, config, kl_coef)
    if config.algorithm.estimator in ("gae", "reinforce_plus_plus") and config.algorithm.whiten == "batch":
        advantages = reference.whitened(advantages)
    found = assign(batch, config, kl_coef=kl_coef).batch
    assert [(e.group, e.member) for e in found.episodes] == [(e.group, e.member) for e in batch.episodes]
    for episode, gains, targets in zip(found.episodes, advantages, returns, strict=True):
        np.testing.assert_allclose(joined(episode, "advantages"), at_positions(gains), rtol=1e-4, atol=1e-4)
        if targets is None:
            assert all(s.returns is None for s in episode.segments)
        else:
            np.testing.assert_allclose(joined(episode, "returns"), at_positions(targets), rtol=1e-5, atol=1e-5)


@settings(deadline=None)
@given(plans(), setups, st.data())
def test_splitting_an_episode_changes_no_number_at_any_token(made, setting, data):
    config = config_of(**setting)
    whole = assigned(made, config, kl_coef=0.1).batch
    split = assigned(made, config, kl_coef=0.1, cuts=data.draw(splits(made))).batch
    for a, b in zip(whole.episodes, split.episodes, strict=True):
        for name in ("advantages", "returns", "value_mask"):
            if getattr(a.segments[0], name) is None:
                assert all(getattr(s, name) is None for s in b.segments)
                continue
            at_a, at_b = (np.concatenate([getattr(s, name)[s.mask] for s in e.segments]) for e in (a, b))
            np.testing.assert_array_equal(at_a, at_b)


@settings(deadline=None)
@given(plans(), setups)
def test_deleting_what_was_not_sampled_changes_no_advantage(made, setting):
    config = config_of(**setting)
    bare = [replace(p, turns=[(0, n) for _, n in p.turns]) for p in made]
    for a, b in zip(assigned(made, config).batch.segments, assigned(bare, config).batch.segments, strict=True):
        np.testing.assert_array_equal(a.advantages[a.mask], b.advantages)


@settings(deadline=None)
@given(plans(), setups, st.data())
def test_each_sampled_token_has_one_finite_advantage_and_no_other_token_has_any(made, setting, data):
    batch = batch_of(made, cuts=data.draw(splits(made)))
    found = assign(batch, config_of(**setting), kl_coef=0.1).batch
    assert found.sampled == sum(p.sampled for p in made)
    for segment in found.segments:
        assert segment.advantages.dtype == np.float32
        assert segment.advantages.shape == segment.tokens.shape
        assert np.isfinite(segment.advantages).all()
        assert not segment.advantages[~segment.mask].any()
        if segment.returns is not None:
            assert not segment.returns[~segment.mask].any()
        if segment.value_mask is not None:
            assert not segment.value_mask[~segment.mask].any()


def test_with_the_turn_as_unit_the_critic_learns_where_each_turn_begins():
    plan = Plan(turns=[(2, 3), (1, 1), (2, 2)], rewards=[0, 0, 1])
    [segment] = assigned([plan], config_of("gae", gae_unit="turn", whiten="none")).batch.segments
    assert np.flatnonzero(segment.value_mask).tolist() == [2, 6, 9]
    assert np.flatnonzero(segment.returns).tolist() == [2, 6, 9]
    for turn in range(3):
        assert len(set(segment.advantages[segment.turn == turn].tolist())) == 1


def test_returns_are_taken_before_whitening():
    pair = [Plan(turns=[(1, 2), (1, 2)], rewards=[0, r], member=r, seed=r) for r in (0, 1)]
    for white, raw in zip(
        assigned(pair, config_of("gae", whiten="batch")).batch.segments,
        assigned(pair, config_of("gae", whiten="none")).batch.segments,
        strict=True,
    ):
        np.testing.assert_array_equal(white.returns, raw.returns)
        assert (white.advantages[white.mask] != raw.advantages[raw.mask]).all()


def test_a_terminal_reward_reaches_every_action_of_an_episode_that_ends_in_an_observation():
    episode = episode_of(Plan(turns=[(1, 2), (1, 1)], rewards=[0, 1]))
    [segment] = episode.segments
    tail = {n: np.append(getattr(segment, n), np.float32(math.nan)) for n in ("values", "engine_logprobs")}
    ended = replace(
        segment,
        tokens=np.append(segment.tokens, 7),
        mask=np.append(segment.mask, False),
        turn=np.append(segment.turn, -1),
        old_logprobs=None,
        ref_logprobs=None,
        **tail,
    )
    batch = replace(batch_of([]), episodes=[replace(episode, segments=[ended])])
    [found] = assign(batch, config_of("reinforce_plus_plus", whiten="none"), kl_coef=0.0).batch.segments
    assert found.advantages.tolist() == [0, 1, 1, 0, 1, 0]


# --- which groups


def groups_of(*rewards, **changes):
    return [
        Plan(turns=[(1, 2)], rewards=[r], group=g, member=m, **changes)
        for g, several in enumerate(rewards)
        for m, r in enumerate(several)
    ]


@pytest.mark.parametrize("estimator", ["grpo", "rloo"])
def test_groups_without_a_signal_are_dropped_and_counted(estimator):
    found = assigned(groups_of([1, 1, 1], [1, 0], [0, 0]), config_of(estimator))
    assert {e.group for e in found.batch.episodes} == {1}
    assert found.dropped == {0: "zero_variance", 2: "zero_variance"}
    assert found.batch.counts == {"zero_variance": 5}
    assert found.metrics["groups/zero_variance"] == 2
    assert found.metrics["reward/mean"] == pytest.approx(4 / 7)  # dropped ones count, or the mean would lie


def test_a_batch_with_nothing_left_is_empty_and_no_error():
    found = assigned(groups_of([1, 1], [0, 0]), config_of())
    assert found.batch.episodes == []
    assert found.metrics["tokens/left"] == 0


@pytest.mark.parametrize(
    "changes",
    [
        dict(zero_variance="keep"),
        dict(kl="loss"),
        dict(loss=LossSettings(entropy_coef=0.01)),
    ],
)
def test_groups_without_a_signal_stay_where_something_else_acts_on_them(changes):
    config = config_of(**changes)
    found = assigned(groups_of([1, 1], [1, 0]), config)
    assert keeps_zero_groups(config)
    assert len(found.batch.episodes) == 4
    assert found.metrics["groups/zero_variance"] == 1
    assert not any(s.advantages.any() for s in found.batch.groups()[0][0].segments)


@pytest.mark.parametrize("estimator", ["grpo", "rloo"])
def test_a_lone_survivor_is_dropped_and_counted(estimator):
    found = assigned(groups_of([1], [1, 0]), config_of(estimator))
    assert found.dropped == {0: "lone_survivor"}
    assert found.batch.counts == {"lone_survivor": 1}
    assert found.metrics["groups/zero_variance"] == 0


@pytest.mark.parametrize("estimator", ["gae", "reinforce_plus_plus"])
def test_a_lone_survivor_stays_where_no_peers_are_needed(estimator):
    assert len(assigned(groups_of([1], [1, 0]), config_of(estimator)).batch.episodes) == 3


def test_statistics_are_those_of_the_survivors():
    whole = assigned(groups_of([1, 0, 0, 0]), config_of("rloo")).batch
    survivors = assigned(groups_of([1, 0]), config_of("rloo")).batch
    assert whole.episodes[0].segments[0].advantages[1] == 1.0
    assert [e.segments[0].advantages[1] for e in survivors.episodes] == [1.0, -1.0]


def test_remax_drops_a_group_whose_greedy_episode_was_lost():
    found = assigned(groups_of([1, 0], baseline=None), config_of("remax"))
    assert found.dropped == {0: "no_baseline"}
    assert found.batch.episodes == []


def test_remax_refuses_two_baselines_for_one_task():
    plans = [replace(p, baseline=float(p.member)) for p in groups_of([1, 0])]
    with pytest.raises(BadBatch, match="several baselines"):
        assigned(plans, config_of("remax"))


def test_context_full_is_learned_from_unless_it_is_masked():
    plans = [
        *groups_of([1, 0]),
        Plan(turns=[(1, 2)], rewards=[0], outcome=Outcome.CONTEXT_FULL, member=2),
        Plan(turns=[(1, 2)], rewards=[0], outcome=Outcome.CONTEXT_FULL, group=1),
    ]
    assert len(assigned(plans, config_of("rloo", zero_variance="keep")).batch.episodes) == 3
    masked = assigned(plans, config_of("rloo", loss=LossSettings(mask_context_full=True)))
    assert [e.segments[0].advantages[1] for e in masked.batch.episodes] == [1.0, -1.0]
    assert masked.batch.counts == {"context_full_masked": 2}
    assert masked.dropped == {1: "context_full"}


@pytest.mark.parametrize("outcome", [o for o in Outcome if not o.trains])
def test_an_outcome_that_is_never_learned_from_is_refused(outcome):
    with pytest.raises(BadBatch, match=outcome.value):
        assigned([*groups_of([1, 0]), Plan(turns=[(1, 1)], rewards=[0], outcome=outcome, member=2)], config_of())


# --- KL in the reward


def test_the_kl_of_a_group_estimator_is_taken_from_the_whole_reward():
    plans = groups_of([1, 1])
    plans = [replace(p, seed=i) for i, p in enumerate(plans)]
    batch = batch_of(plans)
    nats = [sum(k for k, m in zip(d["k1"], d["mask"], strict=True) if m) for d in map(dense, batch.episodes)]
    found = assign(batch, config_of("rloo", kl="reward"), kl_coef=0.5)
    for i, episode in enumerate(found.batch.episodes):
        expected = -0.5 * (nats[i] - nats[1 - i])
        np.testing.assert_allclose(episode.segments[0].advantages, [0, expected, expected], rtol=1e-5)
    assert found.metrics["kl/episode"] == pytest.approx(sum(nats) / 2)
    assert found.metrics["reward/mean"] == 1.0  # as earned


def test_kl_in_the_loss_changes_no_advantage():
    plans = groups_of([1, 0])
    a, b = (assigned(plans, config_of(kl=kl), kl_coef=9.0).batch for kl in ("loss", "none"))
    for x, y in zip(a.segments, b.segments, strict=True):
        np.testing.assert_array_equal(x.advantages, y.advantages)


# --- what is refused


def test_the_given_batch_stays_as_it_is():
    batch = batch_of(groups_of([1, 1], [1, 0]))
    assign(batch, config_of(), kl_coef=0.0)
    assert len(batch.episodes) == 4
    assert all(s.advantages is None for s in batch.segments)
    assert batch.counts == {}


def test_a_missing_array_is_named():
    batch = batch_of(groups_of([1, 0]))
    next(batch.segments).values = None
    with pytest.raises(BadBatch, match=r"maze/train/0 \(group 0, member 0\): a segment has no values"):
        assign(batch, config_of("gae"), kl_coef=0.0)
    next(batch.segments).ref_logprobs = None
    with pytest.raises(BadBatch, match="a segment has no ref_logprobs"):
        assign(batch, config_of(kl="reward"), kl_coef=0.1)


def test_a_number_that_is_not_finite_at_a_sampled_token_is_named():
    batch = batch_of(groups_of([1, 0]))
    next(batch.segments).values[2] = math.inf
    with pytest.raises(BadBatch, match="values is inf at sampled token 1"):
        assign(batch, config_of("gae"), kl_coef=0.0)
    batch.episodes[0].turn_rewards = [math.nan]
    with pytest.raises(BadBatch, match="reward is nan"):
        assign(batch, config_of(), kl_coef=0.0)


@pytest.mark.parametrize("rewards", [[], [0.0], [0.0, 0.0, 1.0]])
def test_each_turn_has_one_reward(rewards):
    batch = batch_of([Plan(turns=[(1, 1), (1, 1)], rewards=[0, 0])])
    batch.episodes[0].turn_rewards = rewards
    with pytest.raises(BadBatch, match="each turn has sampled tokens, in order, and one reward"):
        assign(batch, config_of("reinforce_plus_plus"), kl_coef=0.0)


def test_the_critic_is_judged_where_it_learns():
    plan = Plan(turns=[(1, 2), (1, 2)], rewards=[0, 1])
    batch = batch_of([plan])
    [segment] = batch.segments
    config = config_of("gae", whiten="none")
    returns = assign(batch, config, kl_coef=0.0).batch.episodes[0].segments[0].returns
    assert returns[segment.mask].tolist() == pytest.approx([1.0] * 4)  # gamma and lam are 1: nothing to explain
    metrics = assign(batch, config_of("gae", gamma=0.5, whiten="none"), kl_coef=0.0).metrics
    assert metrics["value/explained_variance"] < 1
