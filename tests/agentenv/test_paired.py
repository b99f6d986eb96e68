"""The paired comparison against worked vectors."""

import itertools
import math
import random

import pytest

from agentenv.intervals import standard_error
from agentenv.paired import FLIPS, bonett_price, compare, mcnemar, sign_flip, sign_flips


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
    pairs = [float(x) - float(y) for x, y in zip(a, b, strict=True)]
    assert standard_error(pairs) == pytest.approx(0.1636634, abs=1e-7)
    apart = [standard_error([float(x) for x in side]) for side in (a, b)]
    assert math.hypot(*apart) == pytest.approx(0.2587746, abs=1e-7)


def test_agents_that_played_other_tasks_are_not_compared():
    with pytest.raises(ValueError, match="3 results beside 2"):
        compare([True] * 3, [True] * 2)


def every_pattern(differences: list[float]) -> float:
    """The p by going through all signs."""
    seen = abs(sum(differences))
    signs = list(itertools.product((1, -1), repeat=len(differences)))
    return sum(abs(sum(s * d for s, d in zip(row, differences, strict=True))) >= seen - 1e-12 for row in signs) / len(
        signs
    )


@pytest.mark.parametrize("seed", range(6))
def test_flipped_signs_are_counted_exactly_for_whole_numbers_and_for_few_scores(seed):
    rng = random.Random(seed)
    whole = [rng.randint(-4, 4) for _ in range(10)]
    assert sign_flip(whole, seed=1) == pytest.approx(every_pattern(whole))
    assert sign_flip([d * 0.25 for d in whole], seed=1) == pytest.approx(every_pattern(whole))
    graded = [rng.gauss(0.3, 1) for _ in range(9)]
    assert sign_flip(graded, seed=1) == pytest.approx(every_pattern(graded))


def test_differences_of_one_attempt_give_mcnemar_s_p():
    assert sign_flip([1] * 12 + [-1] * 3 + [0] * 45, seed=1) == pytest.approx(mcnemar(12, 3))
    assert sign_flip([1] * 400 + [-1] * 300, seed=1) == pytest.approx(mcnemar(400, 300))


def test_no_difference_at_all_has_p_1():
    assert sign_flip([0, 0, 0], seed=1) == sign_flip([0.0] * 30, seed=1) == sign_flip([], seed=1) == 1.0


def test_many_scores_are_flipped_at_random_from_the_seed_alone():
    rng = random.Random(3)
    scores = [rng.gauss(0.4, 1) for _ in range(40)]
    first = sign_flip(scores, seed=7)
    assert sign_flip(scores, seed=7) == first != sign_flip(scores, seed=8)
    assert 0 < first < 1
    assert (first * (FLIPS + 1)) % 1 == pytest.approx(0, abs=1e-6)
    assert sign_flip([1.0 + i / 100 for i in range(40)], seed=1) == 1 / (FLIPS + 1)  # never 0


def test_random_flips_agree_with_the_exact_law():
    whole = [3, -1, 2, 2, 4, -3, 1, 1, 2, 2, -4, 1, 3, 3, -1, 1, 2, -2, 1, 1]
    exact = sign_flip(whole, seed=1)
    assert sign_flip([0.1 * d for d in whole], seed=1) == pytest.approx(exact, abs=0.005)  # ties count, rounded or not


def test_pairs_that_are_tested_together_get_the_p_that_each_gets_alone():
    rng = random.Random(4)
    for tasks in (20, 700):
        rows = [[rng.gauss(0.02 * i, 10.0**i) for _ in range(tasks)] for i in range(5)]
        assert sign_flips(rows, seed=2) == [sign_flip(row, seed=2) for row in rows]
    assert sign_flips([[1, 0, 1], [2, -2, 0]], seed=2) == [0.5, 1.0]
