"""What a comparison locks: the right test for the data, tasks that drop out with their worst case, flips, planning."""

import pytest

from agentenv.intervals import bootstrap
from agentenv.paired import bonett_price, mcnemar, sign_flip
from evals.statistics.pairs import MEAN_SCORE, TaskResult, compare_results


def side(*counts, env="coin", lost=(), scores=None):
    """Tasks in order; a count is `(successes, attempts)`."""
    return {
        (env, f"{env}/test/{i}", "d"): TaskResult(
            planned=n + (i in lost), valid=n, success=c, lost=int(i in lost), score=scores[i] if scores else None
        )
        for i, (c, n) in enumerate(counts)
    }


def once(*solved):
    return side(*((int(s), 1) for s in solved))


@pytest.mark.parametrize(
    ("b", "c", "tasks", "low", "high"),
    [(12, 3, 60, 0.01993, 0.27039), (0, 0, 20, -0.12599, 0.12599), (40, 20, 200, 0.02384, 0.17418)],
)
def test_one_attempt_each_gives_the_published_intervals(b, c, tasks, low, high):
    found = compare_results(
        once(*[1] * b, *[0] * c, *[1] * (tasks - b - c)), once(*[0] * b, *[1] * c, *[1] * (tasks - b - c)), seed=1
    )
    assert (found.test, found.ci_method, found.tasks) == ("mcnemar", "bonett_price", tasks)
    assert (found.ci_low, found.ci_high) == (pytest.approx(low, abs=1e-5), pytest.approx(high, abs=1e-5))
    assert found.difference == pytest.approx((b - c) / tasks)
    assert found.p_value == mcnemar(b, c)
    assert len(found.flips) == b + c


def test_the_same_results_differ_by_nothing_with_p_1():
    found = compare_results(side((2, 4), (4, 4)), side((2, 4), (4, 4)), seed=1)
    assert (found.p_value, found.difference, found.flips) == (1.0, 0.0, [])
    assert found.needs[0].tasks is None


def test_several_attempts_are_tested_by_task_never_by_episode():
    a, b = [(4, 4), (3, 4), (4, 4), (2, 4), (0, 4), (4, 4)], [(0, 4), (3, 4), (1, 4), (2, 4), (1, 4), (2, 4)]
    found = compare_results(side(*a), side(*b), seed=5)
    d = [(x[0] - y[0]) / 4 for x, y in zip(a, b, strict=True)]
    assert (found.test, found.p_value) == ("sign_flip", pytest.approx(sign_flip(d, seed=5)))
    interval = bootstrap(d, seed=5)
    assert (found.ci_low, found.ci_high, found.ci_method) == (interval.low, interval.high, "bootstrap")
    assert [(f.task, f.a, f.b) for f in found.flips][:2] == [
        ("coin/test/0", "4/4", "0/4"),
        ("coin/test/2", "4/4", "1/4"),
    ]
    assert found.difference == pytest.approx(sum(d) / 6)


def test_a_task_invalid_on_one_side_leaves_the_pair_and_is_named():
    found = compare_results(side((1, 1), (0, 0), (1, 1), lost=(1,)), once(0, 1, 1), seed=1)
    assert (found.tasks, found.a, found.b) == (2, 1.0, 0.5)
    assert [(d.task, d.why) for d in found.dropped] == [("coin/test/1", "invalid in A")]
    assert (found.difference_low, found.difference_high) == (pytest.approx(0.0), pytest.approx(1 / 3))


def test_a_task_that_was_not_played_is_told_from_an_invalid_one():
    a = {**side((1, 1)), ("coin", "coin/test/1", "d"): TaskResult(planned=2, valid=0, success=0)}
    found = compare_results(a, once(0, 1), seed=1)
    assert found.dropped[0].why == "not played in A"
    assert (found.difference_low, found.difference_high) == (0.0, 0.5)


def test_a_lost_attempt_of_a_task_that_stays_widens_the_bounds_only():
    found = compare_results(side((2, 3), (4, 4), lost=(0,)), side((2, 4), (4, 4)), seed=1)
    assert found.dropped == []
    assert found.difference == pytest.approx((2 / 3 - 1 / 2) / 2)
    assert (found.difference_low, found.difference_high) == (0.0, pytest.approx(0.125))


def test_nothing_in_common_is_unknown_not_zero():
    found = compare_results(once(1), side((1, 1), env="dice"), seed=1)
    assert (found.tasks, found.difference, found.p_value, found.ci_low, found.test) == (0, None, None, None, None)


def test_envs_of_different_size_weigh_the_same():
    a = {**side(*[(1, 1)] * 6), **side(*[(0, 1)] * 2, env="dice")}
    b = {**side(*[(0, 1)] * 6), **side(*[(1, 1)] * 2, env="dice")}
    found = compare_results(a, b, seed=1)
    assert found.difference == 0.0
    assert found.test == "sign_flip"  # McNemar would let the large env decide
    assert found.p_value == 1.0


def test_envs_of_equal_size_keep_the_exact_test():
    a = {**side(*[(1, 1)] * 6), **side(*[(1, 1)] * 6, env="dice")}
    b = {**side(*[(0, 1)] * 6), **side(*[(1, 1)] * 6, env="dice")}
    found = compare_results(a, b, seed=1)
    assert (found.test, found.p_value, found.difference) == ("mcnemar", mcnemar(6, 0), 0.5)
    assert found.ci_low == bonett_price(6, 0, 12).low


def test_graded_scores_are_compared_as_scores():
    a = side(*[(0, 1)] * 6, scores=[10.0, 20.0, 35.0, 40.0, 20.0, 90.0])
    b = side(*[(0, 1)] * 6, scores=[5.0, 10.0, 30.0, 10.0, 20.0, 0.0])
    found = compare_results(a, b, seed=1, metric=MEAN_SCORE)
    assert found.difference == pytest.approx((5 + 10 + 5 + 30 + 0 + 90) / 6)
    assert found.p_value == 2 / 2**5
    assert (found.difference_low, found.flips[0].a, found.flips[0].b) == (None, "90", "0")


def test_needs_are_for_the_difference_that_was_seen_and_for_the_one_asked_about():
    a, b = once(*[1] * 40, *[0] * 20, *[1] * 140), once(*[0] * 40, *[1] * 20, *[1] * 140)
    found = compare_results(a, b, seed=1, delta=0.02)
    assert [n.delta for n in found.needs] == [pytest.approx(0.1), 0.02]
    assert found.needs[1].tasks > found.needs[0].tasks > 0
    assert all(n.attempts is None for n in found.needs)
