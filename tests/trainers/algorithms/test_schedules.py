"""Whatever changes over a run: limits of turns, shares of environments, learning rates."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trainers.algorithms.apportion import apportion
from trainers.algorithms.rounds import stage, turn_limit
from trainers.algorithms.schedule import learning_rate
from trainers.config import EnvironmentSettings, OptimSettings, RoundsSettings

MAZE = EnvironmentSettings(env="maze")
SCALING = RoundsSettings(type="scaling_inter_stepwise", values=[10, 20, 30], every=100)


@pytest.mark.parametrize(
    ("step", "limit"), [(1, 10), (100, 10), (101, 20), (200, 20), (201, 30), (300, 30), (301, 30), (10_000, 30)]
)
def test_limits_rise_after_each_stage(step, limit):
    assert turn_limit(step, SCALING, MAZE) == limit


@settings(deadline=None)
@given(st.integers(1, 6), st.integers(1, 7), st.integers(1, 60))
def test_the_rule_is_that_of_counting_along(stages, every, step):
    """The published rule keeps a stage and a counter; resumed at any step, also at a boundary, this one agrees."""
    values = list(range(1, stages + 1))
    at, counter = 0, 1
    for _ in range(step - 1):
        if at + 1 < len(values) and counter % every == 0:
            at += 1
        counter += 1
    rounds = RoundsSettings(type="scaling_inter_stepwise", values=values, every=every)
    assert stage(step, rounds, MAZE) == at
    assert turn_limit(step, rounds, MAZE) == values[at]


def test_an_environment_may_have_limits_of_its_own():
    own = EnvironmentSettings(env="wordle", rounds=[3, 6])
    assert [turn_limit(s, SCALING, own) for s in (100, 101, 201)] == [3, 6, 6]
    assert [stage(s, SCALING, own) for s in (100, 101, 201)] == [0, 1, 1]


def test_a_fixed_limit_never_changes():
    assert {turn_limit(s, RoundsSettings(values=[15]), MAZE) for s in (1, 100, 101, 5000)} == {15}
    assert turn_limit(7, RoundsSettings(), MAZE) is None
    assert turn_limit(7, RoundsSettings(), EnvironmentSettings(env="maze", max_steps=8)) == 8


def test_steps_are_counted_from_one():
    with pytest.raises(ValueError, match="counted from 1"):
        turn_limit(0, SCALING, MAZE)


# --- shares


def over_steps(steps, tasks, weights):
    carry, seen = [0.0] * len(weights), []
    for _ in range(steps):
        counts, carry = apportion(tasks, weights, carry)
        seen.append(counts)
    return seen, carry


def test_remainders_are_carried_to_the_next_step():
    seen, carry = over_steps(2, 2, [3, 1])
    assert seen == [[2, 0], [1, 1]]
    assert carry == [0, 0]


def test_an_environment_due_less_than_a_task_a_step_still_gets_its_share():
    seen, _ = over_steps(100, 4, [99, 1])
    assert [sum(c) for c in zip(*seen, strict=True)] == [396, 4]


@settings(deadline=None)
@given(st.lists(st.floats(0, 10), min_size=1, max_size=5), st.integers(1, 20), st.integers(1, 40))
def test_every_step_is_full_and_over_the_run_nobody_is_owed_more_than_his_share_leaves_open(weights, tasks, steps):
    if sum(weights) < 1e-3:
        return
    seen, carry = over_steps(steps, tasks, weights)
    assert all(sum(counts) == tasks and min(counts) >= 0 for counts in seen)
    for i, weight in enumerate(weights):
        due = steps * tasks * weight / sum(weights)
        got = sum(counts[i] for counts in seen)
        assert got + carry[i] == pytest.approx(due, abs=1e-6)
        assert abs(got - due) < len(weights)
        if weight == 0:
            assert got == 0


@pytest.mark.parametrize("weights", [[0, 0], [1, -1]])
def test_weights_that_share_nothing_are_refused(weights):
    with pytest.raises(ValueError, match="none may be negative, and one must be positive"):
        apportion(4, weights, [0, 0])


# --- learning rates


def rates(steps=10, **optim):
    return [learning_rate(s, OptimSettings(lr=1.0, **optim), steps=steps) for s in range(1, steps + 1)]


def test_a_constant_rate_is_constant_after_its_rise():
    assert rates() == [1.0] * 10
    assert rates(warmup_ratio=0.4) == pytest.approx([0.25, 0.5, 0.75] + [1.0] * 7)


def test_a_linear_rate_falls_evenly_and_the_last_step_still_learns():
    assert rates(schedule="linear") == pytest.approx([1 - i / 10 for i in range(10)])
    assert rates(schedule="linear", min_lr_ratio=0.5) == pytest.approx([1 - i / 20 for i in range(10)])


def test_a_cosine_rate_is_half_way_in_the_middle():
    found = rates(steps=11, schedule="cosine", warmup_ratio=0.1)
    assert found[0] == 1.0
    assert found == sorted(found, reverse=True)
    assert learning_rate(6, OptimSettings(lr=1.0, schedule="cosine"), steps=10) == pytest.approx(0.5)
    assert learning_rate(11, OptimSettings(lr=1.0, schedule="cosine", min_lr_ratio=0.1), steps=10) == pytest.approx(0.1)


@settings(deadline=None)
@given(
    st.integers(1, 50),
    st.floats(0, 1),
    st.sampled_from(["constant", "linear", "cosine"]),
    st.sampled_from([0.0, 0.1, 1.0]),
)
def test_every_step_has_a_positive_rate_that_rises_and_then_falls(steps, warmup, schedule, floor):
    found = rates(steps, warmup_ratio=warmup, schedule=schedule, min_lr_ratio=floor)
    assert all(0 < rate <= 1 for rate in found)
    top = found.index(max(found))
    assert found[: top + 1] == sorted(found[: top + 1])
    assert found[top:] == sorted(found[top:], reverse=True)
