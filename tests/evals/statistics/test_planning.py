"""What planning locks: the published vectors, and answers that are honest about what repeats cannot do."""

import math

import pytest

from evals.statistics.planning import (
    A,
    Spread,
    cannot_rank,
    detectable,
    detectable_from,
    effective_tasks,
    half_width,
    need,
    tasks_needed,
)


def spread(*, tasks=100, total=0.25, within=None, attempts=1.0):
    return Spread(tasks=tasks, total=total, within=within, attempts=attempts)


@pytest.mark.parametrize(
    ("tasks", "low", "high"), [(12, 0.281, 0.398), (60, 0.152, 0.215), (200, 0.087, 0.123), (500, 0.056, 0.079)]
)
def test_the_detectable_difference_is_the_published_one(tasks, low, high):
    assert pytest.approx(2.801585, abs=1e-6) == A
    assert detectable(tasks, discordance=0.2) == pytest.approx(low, abs=5e-4)
    assert detectable(tasks, discordance=0.4) == pytest.approx(high, abs=5e-4)


def test_a_dozen_and_sixty_tasks_cannot_rank_agents_and_two_hundred_can():
    assert [cannot_rank(tasks) for tasks in (0, 12, 60, 200, 500)] == [True, True, True, False, False]


def test_a_measured_spread_replaces_the_assumption():
    assert detectable_from(spread(tasks=200, total=0.3)) == pytest.approx(A * math.sqrt(0.3 / 200))
    assert detectable_from(spread(total=0.0)) is None


def test_tasks_for_a_difference_are_rounded_up():
    assert tasks_needed(spread(total=0.25), 0.05) == math.ceil(A**2 * 0.25 / 0.0025) == 785
    assert tasks_needed(spread(total=0.25), 0.5) == 8
    assert tasks_needed(spread(), 0.0) is None
    assert tasks_needed(spread(total=0.0), 0.05) is None


def test_one_attempt_says_nothing_of_repeats():
    found = need(spread(), 0.05)
    assert (found.tasks, found.attempts) == (785, None)
    assert "one attempt does not tell" in found.text


def test_no_difference_has_no_answer():
    assert need(spread(within=0.1), 0.0).tasks is None


def test_repeats_are_enough_where_the_agents_differ_alike_on_all_tasks():
    """With 2 attempts and no spread between tasks, variance 0.1 falls as 2 / attempts; 100 tasks must bring 0.05."""
    found = need(spread(total=0.1, within=0.1, attempts=2.0), 0.05)
    assert found.attempts == math.ceil(0.1 * 2 * A**2 / (0.05**2 * 100))
    assert found.tasks == tasks_needed(spread(total=0.1), 0.05)
    assert "attempts at each of these 100" in found.text


def test_where_tasks_differ_no_number_of_repeats_is_enough_and_that_is_said():
    found = need(spread(total=0.25, within=0.05, attempts=4.0), 0.05)
    assert found.attempts is None
    assert found.text == "no number of repeats on these 100 tasks is enough; about 785 tasks are"


def test_chance_within_tasks_above_the_whole_spread_leaves_nothing_between():
    assert spread(total=0.1, within=0.2).between == 0.0
    assert spread(total=0.1, within=0.04).between == pytest.approx(0.06)
    assert spread().between is None


def test_equal_envs_add_up_and_a_small_one_holds_the_mean_back():
    assert effective_tasks([30, 30, 30]) == pytest.approx(90)
    assert effective_tasks([100]) == 100
    assert effective_tasks([1000, 10]) == pytest.approx(4 / (1 / 1000 + 1 / 10))
    assert effective_tasks([]) == effective_tasks([10, 0]) == 0


def test_the_half_width_is_wilson_s_at_one_half():
    from agentenv.intervals import wilson

    interval = wilson(50, 100)
    assert half_width(100) == pytest.approx((interval.high - interval.low) / 2)
    assert half_width(0) is None
