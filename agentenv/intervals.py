"""Estimates and their uncertainty: Wilson intervals, also for several attempts a task, the bootstrap, pass@k.

Pure functions over counts. A task is `(successes, attempts)`, valid attempts only. The estimate is the mean over tasks
of each task's own rate, never the rate over all episodes. What cannot be known is None, never 0.
"""

from __future__ import annotations

import functools
import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist, fmean, stdev
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Counts = Sequence[tuple[int, int]]
"""`(successes, attempts)` of each task, with 0 <= successes <= attempts and attempts >= 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A confidence interval and how it was made."""

    low: float
    high: float
    method: str
    """`wilson`, `wilson_cluster`, `rerun`, `bootstrap` or `mover`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """Where a rate would lie if every invalid attempt had failed, or had succeeded."""

    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PassK:
    """pass@k or pass^k over tasks, and for how many tasks it can be said."""

    value: float | None
    """Mean over the tasks with k attempts; None unless every task has them, or `partial` was asked for."""
    covered: int
    tasks: int
    interval: Interval | None = None
    """Bootstrap over the tasks, where a seed was given and there are enough of them."""

    @property
    def coverage(self) -> str:
        """`3 of 8 tasks`, those that have k attempts."""
        return f"{self.covered} of {self.tasks} tasks"


def wilson(successes: int, n: int, *, confidence: float = 0.95) -> Interval | None:
    """Wilson's interval for a rate of independent trials, one attempt a task; None without a trial."""
    _check([(successes, n)] if n else [])
    if n == 0:
        return None
    low, high = _wilson_at(successes / n, n, z_quantile(confidence))
    return Interval(low=low, high=high, method="wilson")


def wilson_cluster(counts: Counts, *, confidence: float = 0.95) -> Interval | None:
    """Wilson's formula at the effective number of trials, for several attempts on some task.

    Attempts on one task are not independent, so the spread between tasks says how many independent trials the data are
    worth: n_eff = p(1-p)/SE^2, at most the number of attempts. Student's t replaces z, as SE itself is an estimate
    over few tasks. None for a single task: one task does not tell how much tasks differ.
    """
    _check(counts)
    tasks = len(counts)
    if tasks < 2:
        return None
    rates = [c / n for c, n in counts]
    p, se = fmean(rates), standard_error(rates)
    assert se is not None  # two tasks at least
    n_eff = min(float(sum(n for _, n in counts)), p * (1 - p) / se**2) if se > 0 else float(tasks)
    low, high = _wilson_at(p, n_eff, t_quantile(confidence, tasks - 1))
    return Interval(low=low, high=high, method="wilson_cluster")


def success_interval(counts: Counts, *, confidence: float = 0.95) -> Interval | None:
    """`wilson` when every task has one attempt, else `wilson_cluster`: the interval for other tasks of this kind."""
    if all(n == 1 for _, n in counts):
        return wilson(sum(c for c, _ in counts), len(counts), confidence=confidence)
    return wilson_cluster(counts, confidence=confidence)


def rerun(counts: Counts, *, confidence: float = 0.95) -> Interval | None:
    """The interval for these same tasks played again: variance within tasks only. None unless each has two attempts.

    Where no task's attempts differ, the variance is estimated as 0, which nobody should print: then every attempt
    counts as one trial.
    """
    _check(counts)
    if not counts or any(n < 2 for _, n in counts):
        return None
    rates = [c / n for c, n in counts]
    p = fmean(rates)
    variance = sum(x * (1 - x) / (n - 1) for x, (_, n) in zip(rates, counts, strict=True)) / len(counts) ** 2
    n_eff = p * (1 - p) / variance if variance > 0 else float(sum(n for _, n in counts))
    low, high = _wilson_at(p, n_eff, t_quantile(confidence, sum(n - 1 for _, n in counts)))
    return Interval(low=low, high=high, method="rerun")


def combined(
    parts: Sequence[tuple[float, Interval | None]], *, least: float = 0.0, most: float = 1.0
) -> Interval | None:
    """The interval of an unweighted mean of independent rates, from each one's `(rate, interval)`.

    `least` and `most` are the range of what is averaged, for scores that are no rates.

    The distances from rate to bound add up in squares, on each side for itself (Zou and Donner's MOVER). With wide
    samples that is z * sqrt(sum SE^2) / E; where every attempt of an env failed, its SE is 0 and its bound is not.
    """
    if not parts or any(interval is None for _, interval in parts):
        return None
    if len(parts) == 1:
        return parts[0][1]
    mean = fmean(rate for rate, _ in parts)
    below = math.sqrt(sum((rate - i.low) ** 2 for rate, i in parts if i)) / len(parts)
    above = math.sqrt(sum((i.high - rate) ** 2 for rate, i in parts if i)) / len(parts)
    return Interval(low=max(least, mean - below), high=min(most, mean + above), method="mover")


def combined_error(errors: Sequence[float | None]) -> float | None:
    """Standard error of an unweighted mean of independent estimates: sqrt(sum SE^2) / E; None if one is unknown."""
    if not errors or any(e is None for e in errors):
        return None
    return math.sqrt(sum(e**2 for e in errors if e is not None)) / len(errors)


def standard_error(values: Sequence[float]) -> float | None:
    """Of the mean, with n-1 under the variance; None below two values."""
    return stdev(values) / math.sqrt(len(values)) if len(values) > 1 else None


def bootstrap(
    values: Sequence[float], *, seed: int, draws: int = 10_000, confidence: float = 0.95, fewest: int = 5
) -> Interval | None:
    """Percentile interval of a mean, tasks drawn with replacement; None below `fewest` values.

    The bounds are order statistics of the draws, not values between two of them.
    """
    return bootstrap_groups([values], seed=seed, draws=draws, confidence=confidence, fewest=fewest)


def bootstrap_groups(
    groups: Sequence[Sequence[float]],
    *,
    seed: int,
    draws: int = 10_000,
    confidence: float = 0.95,
    fewest: int = 5,
) -> Interval | None:
    """Percentile interval of the unweighted mean of the groups' means, each drawn from within itself.

    None without a group, or when one has fewer than `fewest` values.
    """
    import numpy as np

    if not groups or any(len(values) < fewest for values in groups):
        return None
    rng = np.random.Generator(np.random.PCG64(seed))
    means = np.zeros(draws)
    for values in groups:
        means += _resampled_means(np.asarray(values, dtype=np.float64), draws, rng)
    tail = (1 - confidence) / 2
    low, high = np.quantile(means / len(groups), [tail, 1 - tail], method="inverted_cdf")
    return Interval(low=float(low), high=float(high), method="bootstrap")


def _resampled_means(data: NDArray[np.float64], draws: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """[draws] means of as many values drawn with replacement.

    Rates take few distinct values: then it is how often each of these is drawn that is drawn, by the multinomial law.
    """
    import numpy as np

    distinct, counts = np.unique(data, return_counts=True)
    if 8 * len(distinct) <= len(data):
        drawn = rng.multinomial(len(data), counts / len(data), size=draws)
        return np.asarray(drawn @ distinct / len(data))
    chunk = max(1, 1_000_000 // len(data))  # bounds the memory of the index matrix, 8 MB
    sizes = [min(chunk, draws - start) for start in range(0, draws, chunk)]
    return np.concatenate([data[rng.integers(len(data), size=(size, len(data)))].mean(axis=1) for size in sizes])


def seed_of(*parts: str) -> int:
    """A seed that depends on the texts alone, such as run id and metric."""
    return int.from_bytes(hashlib.sha256("\0".join(parts).encode()).digest()[:8], "big")


def bounds(counts: Sequence[tuple[int, int, int]]) -> Bounds | None:
    """Worst and best case of the mean rate; each task is `(successes, valid, invalid)`, None without an attempt."""
    played = [(c, n, i) for c, n, i in counts if n + i > 0]
    if not played:
        return None
    low = fmean(c / (n + i) for c, n, i in played)
    high = fmean((c + i) / (n + i) for c, n, i in played)
    return Bounds(low=low, high=high)


@functools.lru_cache(maxsize=16_384)
def pass_at_k(n: int, c: int, k: int) -> float | None:
    """Chance that k of the n attempts, drawn without replacement, hold a success; None where k > n."""
    _check([(c, n)] if n else [])
    if not 1 <= k <= n:
        return None
    return 1 - math.comb(n - c, k) / math.comb(n, k)


@functools.lru_cache(maxsize=16_384)
def pass_hat_k(n: int, c: int, k: int) -> float | None:
    """Chance that k of the n attempts, drawn without replacement, all succeed; None where k > n."""
    _check([(c, n)] if n else [])
    if not 1 <= k <= n:
        return None
    return math.comb(c, k) / math.comb(n, k)


def mean_pass_at_k(counts: Counts, k: int, *, partial: bool = False, seed: int | None = None) -> PassK:
    """pass@k over tasks, published only if every task has k attempts, unless `partial`; an interval needs a seed."""
    return _mean_k([pass_at_k(n, c, k) for c, n in counts], partial=partial, seed=seed)


def mean_pass_hat_k(counts: Counts, k: int, *, partial: bool = False, seed: int | None = None) -> PassK:
    """pass^k over tasks, published only if every task has k attempts, unless `partial`; an interval needs a seed."""
    return _mean_k([pass_hat_k(n, c, k) for c, n in counts], partial=partial, seed=seed)


def _mean_k(values: Sequence[float | None], *, partial: bool, seed: int | None) -> PassK:
    known = [v for v in values if v is not None]
    publish = bool(known) and (partial or len(known) == len(values))
    return PassK(
        value=fmean(known) if publish else None,
        covered=len(known),
        tasks=len(values),
        interval=bootstrap(known, seed=seed) if publish and seed is not None else None,
    )


def z_quantile(confidence: float = 0.95) -> float:
    """Two-sided quantile of the normal distribution: 1.96 for 0.95."""
    return NormalDist().inv_cdf((1 + confidence) / 2)


@functools.lru_cache(maxsize=4096)
def t_quantile(confidence: float, df: int) -> float:
    """Two-sided quantile of Student's t: 2.776 for 0.95 and 4 degrees of freedom."""
    if df < 1:
        raise ValueError(f"degrees of freedom {df}: at least 1")
    tail = (1 - confidence) / 2
    low, high = 0.0, 2.0
    while _t_tail(high, df) > tail:
        high *= 2
    while high - low > 1e-13 * high:
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if _t_tail(middle, df) > tail else (low, middle)
    return (low + high) / 2


def _t_tail(t: float, df: int) -> float:
    """P(T > t) for t >= 0."""
    return 0.5 * _beta_ratio(df / 2, 0.5, df / (df + t * t))


def _beta_ratio(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function I_x(a, b)."""
    if x <= 0 or x >= 1:
        return 0.0 if x <= 0 else 1.0
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x))
    if x < (a + 1) / (a + b + 2):  # the side on which the fraction converges fast
        return front * _beta_fraction(a, b, x) / a
    return 1 - front * _beta_fraction(b, a, 1 - x) / b


def _beta_fraction(a: float, b: float, x: float) -> float:
    """The continued fraction of I_x(a, b), from the front by Lentz's method."""
    tiny = 1e-300  # stands in for a zero denominator
    c, d = 1.0, 1 / ((1 - (a + b) * x / (a + 1)) or tiny)
    value = d
    for m in range(1, 10_000):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d = 1 / ((1 + term * d) or tiny)
            c = (1 + term / c) or tiny
            value *= c * d
        if abs(c * d - 1) < 1e-16:
            return value
    raise ArithmeticError(f"the incomplete beta function did not converge at a={a}, b={b}, x={x}")


def _wilson_at(p: float, n: float, q: float) -> tuple[float, float]:
    """Wilson's bounds at rate p and n trials for quantile q."""
    centre = (p + q * q / (2 * n)) / (1 + q * q / n)
    half = q * math.sqrt(p * (1 - p) / n + q * q / (4 * n * n)) / (1 + q * q / n)
    # at the ends one bound is exact; rounding must not move it
    return (0.0 if p == 0 else max(0.0, centre - half)), (1.0 if p == 1 else min(1.0, centre + half))


def _check(counts: Counts) -> None:
    for c, n in counts:
        if not 0 <= c <= n or n < 1:
            raise ValueError(f"{c} successes of {n} attempts: not a count")
