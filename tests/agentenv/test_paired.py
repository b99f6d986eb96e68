"""The paired comparison against worked vectors."""

import pytest

from agentenv.paired import bonett_price, compare, mcnemar


@pytest.mark.parametrize(
    ("b", "c", "p"), [(12, 3, 0.03515625), (1, 0, 1.0), (0, 0, 1.0), (5, 5, 1.0), (40, 20, 0.0134892937)]
)
def test_only_discordant_tasks_count_in_the_exact_test(b, c, p):
    assert mcnemar(b, c) == pytest.approx(p, abs=1e-9)
    assert mcnemar(c, b) == mcnemar(b, c)


@pytest.mark.parametrize(
    ("b", "c", "tasks", "low", "high"),
    [(12, 3, 60, 0.01993, 0.27039), (0, 0, 20, -0.12599, 0.12599), (40, 20, 200, 0.02384, 0.17418)],
)
def test_the_interval_is_that_of_bonett_and_price(b, c, tasks, low, high):
    found = bonett_price(b, c, tasks)
    assert (found.low, found.high) == (pytest.approx(low, abs=1e-5), pytest.approx(high, abs=1e-5))


def test_two_agents_are_compared_task_by_task():
    a = [True, True, False, True, False, True, True, False]
    b = [True, False, False, True, False, False, True, False]
    found = compare(a, b)
    assert (found.only_a, found.only_b, found.tasks) == (2, 0, 8)
    assert found.difference == pytest.approx(0.25)
    assert found.interval.low <= 0.25 <= found.interval.high


def test_agents_that_played_other_tasks_are_not_compared():
    with pytest.raises(ValueError, match="3 results beside 2"):
        compare([True] * 3, [True] * 2)
