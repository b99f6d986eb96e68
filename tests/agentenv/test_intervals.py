"""What the intervals lock: the published vectors, the edges, and the coverage that they claim."""

import itertools
import math
import random
from collections import Counter

import pytest

from agentenv.intervals import (
    Bounds,
    bootstrap,
    bootstrap_groups,
    bounds,
    combined,
    combined_error,
    mean_pass_at_k,
    mean_pass_hat_k,
    pass_at_k,
    pass_hat_k,
    rerun,
    seed_of,
    standard_error,
    success_interval,
    t_quantile,
    wilson,
    wilson_cluster,
    z_quantile,
)


def close(value: float) -> object:
    return pytest.approx(value, abs=1e-7)


@pytest.mark.parametrize(
    ("k", "n", "low", "high"),
    [
        (0, 10, 0, 0.2775328),
        (10, 10, 0.7224672, 1),
        (7, 10, 0.3967781, 0.8922087),
        (45, 100, 0.3561454, 0.5475540),
        (1, 1, 0.2065493, 1),
        (80, 812, 0.0798755, 0.1209496),
    ],
)
def test_wilson_gives_the_published_intervals(k, n, low, high):
    interval = wilson(k, n)
    assert (interval.low, interval.high) == (close(low), close(high))
    assert interval.method == "wilson"


def test_no_trial_has_no_interval():
    assert wilson(0, 0) is None
    assert wilson_cluster([]) is None
    assert success_interval([]) is None


@pytest.mark.parametrize(("c", "n"), [(3, 2), (-1, 4), (1, 0)])
def test_impossible_counts_are_refused(c, n):
    with pytest.raises(ValueError, match="not a count"):
        wilson_cluster([(c, n), (1, 2)])


def test_the_standard_error_of_45_in_100_is_one_twentieth():
    assert standard_error([1.0] * 45 + [0.0] * 55) == close(0.05)


def test_an_unknown_error_is_none():
    assert standard_error([0.5]) is None
    assert combined_error([0.1, None]) is None
    assert combined_error([]) is None


@pytest.mark.parametrize(
    ("counts", "p", "low", "high"),
    [
        ([(c, 4) for c in (4, 2, 0, 1, 3, 4, 0, 0)], 0.4375, 0.1640585, 0.7550457),
        ([(4, 4), (1, 2), (0, 1), (2, 4)], 0.5, 0.1037755, 0.8962245),
        ([(0, 3)] * 5, 0.0, 0.0, 0.6065671),
    ],
)
def test_wilson_cluster_gives_the_published_intervals(counts, p, low, high):
    assert sum(c / n for c, n in counts) / len(counts) == close(p)
    interval = wilson_cluster(counts)
    assert (interval.low, interval.high) == (close(low), close(high))
    assert success_interval(counts) == interval
    assert interval.method == "wilson_cluster"


def test_the_first_vector_has_the_published_error_and_effective_size():
    rates = [c / 4 for c in (4, 2, 0, 1, 3, 4, 0, 0)]
    se = standard_error(rates)
    assert se == close(0.1549049)
    assert 0.4375 * 0.5625 / se**2 == pytest.approx(10.2558, abs=1e-4)


def test_one_task_with_several_attempts_has_no_interval():
    assert wilson_cluster([(2, 4)]) is None


def test_one_attempt_a_task_is_plain_wilson():
    assert success_interval([(1, 1)] * 7 + [(0, 1)] * 3) == wilson(7, 10)


@pytest.mark.parametrize(
    ("df", "t"),
    [
        (1, 12.7062047364), (2, 4.3026527297), (3, 3.1824463053), (4, 2.7764451052), (7, 2.3646242516),
        (10, 2.2281388520), (30, 2.0422724563), (100, 1.9839715185), (1000, 1.9623390808),
    ],
)  # fmt: skip
def test_t_quantiles_agree_with_the_tables(df, t):
    assert t_quantile(0.95, df) == pytest.approx(t, abs=2e-9)


@pytest.mark.parametrize("confidence", [0.5, 0.8, 0.9, 0.95, 0.99, 0.999])
def test_t_quantiles_agree_with_the_closed_forms(confidence):
    p = (1 + confidence) / 2
    assert t_quantile(confidence, 1) == pytest.approx(math.tan(math.pi * (p - 0.5)), rel=1e-10)
    assert t_quantile(confidence, 2) == pytest.approx((2 * p - 1) * math.sqrt(2 / (4 * p * (1 - p))), rel=1e-10)
    alpha = 4 * p * (1 - p)
    q = math.cos(math.acos(math.sqrt(alpha)) / 3) / math.sqrt(alpha)
    assert t_quantile(confidence, 4) == pytest.approx(2 * math.sqrt(q - 1), rel=1e-10)


@pytest.mark.parametrize("df", [3, 11, 29, 99, 999])
def test_the_density_between_the_t_quantiles_integrates_to_the_confidence(df):
    t, cells = t_quantile(0.95, df), 4000
    scale = math.exp(math.lgamma((df + 1) / 2) - math.lgamma(df / 2)) / math.sqrt(df * math.pi)
    density = [scale * (1 + (i * t / cells) ** 2 / df) ** (-(df + 1) / 2) for i in range(cells + 1)]
    simpson = density[0] + density[-1] + 4 * sum(density[1:-1:2]) + 2 * sum(density[2:-1:2])
    assert 2 * simpson * t / cells / 3 == pytest.approx(0.95, abs=1e-10)


def test_t_comes_down_to_z():
    assert z_quantile(0.95) == pytest.approx(1.959963984540, abs=1e-10)
    assert t_quantile(0.95, 10**6) == pytest.approx(z_quantile(0.95), abs=1e-5)
    with pytest.raises(ValueError, match="at least 1"):
        t_quantile(0.95, 0)


def test_a_rerun_of_the_same_tasks_is_surer_than_other_tasks():
    counts = [(c, 4) for c in (4, 2, 0, 1, 3, 4, 0, 0)]
    same, other = rerun(counts), wilson_cluster(counts)
    assert other.low < same.low < 0.4375 < same.high < other.high
    assert same.method == "rerun"


def test_a_rerun_needs_two_attempts_of_each_task():
    assert rerun([(1, 2), (1, 1)]) is None
    assert rerun([]) is None


def test_a_rerun_whose_attempts_agree_still_has_a_width():
    interval = rerun([(4, 4), (0, 4)])
    assert interval.low < 0.4
    assert interval.high > 0.6


def test_the_mean_over_envs_is_unweighted():
    """Two envs of very different size: each has the same say, and the small one sets the width."""
    large, small = wilson(500, 500), wilson(0, 5)
    interval = combined([(1.0, large), (0.0, small)])
    assert interval.low == close(0.5 - math.hypot(1 - large.low, 0) / 2)
    assert interval.high == close(0.5 + math.hypot(0, small.high) / 2)
    assert interval.method == "mover"


def test_the_interval_over_envs_comes_to_the_normal_one_in_large_samples():
    parts = [(0.3, wilson(30_000, 100_000)), (0.6, wilson(60_000, 100_000)), (0.5, wilson(50_000, 100_000))]
    se = combined_error([math.sqrt(p * (1 - p) / 100_000) for p, _ in parts])
    interval = combined(parts)
    assert (interval.high - interval.low) / 2 == pytest.approx(z_quantile() * se, rel=1e-3)


def test_one_env_keeps_its_own_interval_and_an_unknown_one_spoils_the_mean():
    one = wilson(3, 10)
    assert combined([(0.3, one)]) == one
    assert combined([(0.3, one), (0.5, None)]) is None
    assert combined([]) is None


def test_the_bootstrap_of_7_in_10_gives_the_binomial_quantiles():
    interval = bootstrap([1.0] * 7 + [0.0] * 3, seed=seed_of("run", "success"))
    assert (interval.low, interval.high) == (close(0.4), close(1.0))


def test_the_bootstrap_of_a_seed_is_always_the_same():
    rng = random.Random(7)
    values = [rng.random() for _ in range(40)]
    first = bootstrap(values, seed=seed_of("run", "return"))
    assert bootstrap(values, seed=seed_of("run", "return")) == first
    assert bootstrap(values, seed=seed_of("other", "return")) != first


def test_the_bootstrap_of_many_values_is_drawn_in_pieces_and_stays_near_the_normal_interval():
    values = [float(i % 2) for i in range(2000)]
    interval = bootstrap(values, seed=1)
    half = z_quantile() * standard_error(values)
    assert (interval.low, interval.high) == (pytest.approx(0.5 - half, abs=2e-3), pytest.approx(0.5 + half, abs=2e-3))


def test_few_distinct_values_are_resampled_as_all_values_are():
    """The same rates with a trace of noise have many distinct values, and the same interval but for the noise."""
    rates = [i % 5 / 4 for i in range(300)]
    noisy = [rate + i * 1e-9 for i, rate in enumerate(rates)]
    few, many = bootstrap(rates, seed=1), bootstrap(noisy, seed=1)
    assert (few.low, few.high) == (pytest.approx(many.low, abs=2e-3), pytest.approx(many.high, abs=2e-3))


def test_few_tasks_have_no_bootstrap_interval():
    assert bootstrap([0.0, 1.0, 0.5, 1.0], seed=1) is None
    assert bootstrap([0.0, 1.0, 0.5, 1.0, 0.0], seed=1) is not None


def test_groups_are_drawn_each_from_itself_and_weigh_the_same():
    """The large group does not vary, so the mean moves by half of what the small one does."""
    small = [0.0, 1.0, 0.0, 1.0, 1.0]
    alone, both = bootstrap(small, seed=3), bootstrap_groups([small, [1.0] * 500], seed=3)
    assert (both.low, both.high) == (close((alone.low + 1) / 2), close((alone.high + 1) / 2))
    assert bootstrap_groups([small, [1.0] * 4], seed=3) is None
    assert bootstrap_groups([], seed=3) is None


def test_resampling_three_values_follows_the_exact_law():
    """[0, 0, 1]: the mean is 0, 1/3, 2/3, 1 with 8, 12, 6, 1 chances in 27, so its standard error is 0.2721655."""
    law = Counter(sum(draw) for draw in itertools.product([0, 0, 1], repeat=3))
    assert [law[i] for i in range(4)] == [8, 12, 6, 1]
    mean = sum(i / 3 * n for i, n in law.items()) / 27
    exact = math.sqrt(sum((i / 3 - mean) ** 2 * n for i, n in law.items()) / 27)
    assert exact == close(0.2721655)
    low = bootstrap([0.0, 0.0, 1.0], seed=5, fewest=3, confidence=0.25)  # the 37.5 % and the 62.5 % quantile
    assert (low.low, low.high) == (close(1 / 3), close(1 / 3))
    wide = bootstrap([0.0, 0.0, 1.0], seed=5, fewest=3)  # 8/27 > 2.5 %, 1/27 > 2.5 %
    assert (wide.low, wide.high) == (0.0, 1.0)


def test_invalid_attempts_bound_the_rate_from_both_sides():
    """45 of 90 valid, 10 invalid: 0.50 in [0.45, 0.55]."""
    tasks = [(1, 1, 0)] * 45 + [(0, 1, 0)] * 45 + [(0, 0, 1)] * 10
    assert bounds(tasks) == Bounds(low=0.45, high=0.55)
    assert bounds([(1, 1, 0), (0, 1, 0)]) == Bounds(low=0.5, high=0.5)
    assert bounds([(0, 0, 0)]) is None


@pytest.mark.parametrize(
    ("n", "c", "k", "value"),
    [
        (10, 3, 1, 0.3), (10, 3, 5, 0.9166666667), (10, 1, 10, 1), (5, 2, 2, 0.7), (4, 1, 2, 0.5), (4, 1, 4, 1),
        (200, 7, 10, 0.3055988116), (10, 0, 5, 0), (2, 0, 5, None), (3, 2, 5, None), (0, 0, 1, None),
    ],
)  # fmt: skip
def test_pass_at_k_is_the_unbiased_one_and_unknown_where_k_is_over_n(n, c, k, value):
    assert pass_at_k(n, c, k) == (value if value is None else pytest.approx(value, abs=1e-9))


@pytest.mark.parametrize(("n", "c", "k", "value"), [(5, 4, 2, 0.6), (5, 4, 3, 0.4), (4, 1, 2, 0), (1, 1, 2, None)])
def test_pass_hat_k_draws_without_replacement(n, c, k, value):
    assert pass_hat_k(n, c, k) == (value if value is None else pytest.approx(value, abs=1e-12))


def test_the_mean_of_pass_at_2_is_over_tasks():
    result = mean_pass_at_k([(0, 4), (1, 4), (4, 4)], 2)
    assert (result.value, result.coverage) == (close(0.5), "3 of 3 tasks")
    assert mean_pass_hat_k([(4, 5), (5, 5)], 2).value == close(0.8)


def test_one_greedy_attempt_has_no_pass_at_10():
    """164 problems once, 50 solved: pass@10 is unknown, not 0.977; pass@1 is 0.3049."""
    once = [(1, 1)] * 50 + [(0, 1)] * 114
    assert mean_pass_at_k(once, 10).value is None
    assert mean_pass_at_k(once, 10, partial=True).value is None
    assert mean_pass_at_k(once, 10).coverage == "0 of 164 tasks"
    assert mean_pass_at_k(once, 1).value == pytest.approx(0.3049, abs=5e-5)


def test_a_task_short_of_attempts_blocks_pass_at_k_unless_a_part_is_asked_for():
    counts = [(1, 4), (0, 1)]
    assert mean_pass_at_k(counts, 2).value is None
    part = mean_pass_at_k(counts, 2, partial=True)
    assert (part.value, part.coverage) == (close(0.5), "1 of 2 tasks")


def test_pass_at_k_has_a_bootstrap_interval_over_its_tasks_where_a_seed_is_given():
    counts = [(0, 4), (1, 4), (4, 4), (2, 4), (3, 4), (0, 4)]
    found = mean_pass_at_k(counts, 2, seed=1)
    assert found.interval == bootstrap([pass_at_k(n, c, 2) for c, n in counts], seed=1)
    assert found.interval.low < found.value < found.interval.high
    assert mean_pass_at_k(counts, 2).interval is None
    assert mean_pass_hat_k(counts, 5, seed=1).interval is None


def simulated_coverage(tasks: int, alpha: float, beta: float, *, runs: int) -> float:
    """How often the interval of 4 attempts on `tasks` tasks holds the mean rate of their Beta(alpha, beta)."""
    rng, hits = random.Random(f"{tasks},{alpha},{beta}"), 0
    for _ in range(runs):
        rates = [rng.betavariate(alpha, beta) for _ in range(tasks)]
        interval = wilson_cluster([(sum(rng.random() < p for _ in range(4)), 4) for p in rates])
        hits += interval.low <= alpha / (alpha + beta) <= interval.high
    return hits / runs


@pytest.mark.slow
@pytest.mark.parametrize("tasks", [12, 30, 100])
@pytest.mark.parametrize(("alpha", "beta"), [(0.5, 0.5), (1, 2), (2, 2)])
def test_the_interval_of_four_attempts_covers_as_claimed(tasks, alpha, beta):
    """The nominal 95 % in simulation: never under 92 %."""
    coverage = simulated_coverage(tasks, alpha, beta, runs=4000)
    assert 0.92 <= coverage <= 0.99, coverage


@pytest.mark.slow
@pytest.mark.parametrize("rates", [(0.05, 0.5, 0.95), (0.01, 0.02, 0.9), (0.3, 0.3, 0.3)])
def test_the_interval_over_three_envs_covers_as_claimed(rates):
    rng, hits, runs = random.Random(str(rates)), 0, 4000
    for _ in range(runs):
        found = [sum(rng.random() < p for _ in range(30)) for p in rates]
        interval = combined([(k / 30, wilson(k, 30)) for k in found])
        hits += interval.low <= sum(rates) / 3 <= interval.high
    assert hits / runs >= 0.92
