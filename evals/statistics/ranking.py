"""Ranges of ranks: what one table may say about the order of its rows.

Every pair of rows is tested on the tasks that both played, Holm's step-down holds the chance of any false claim in the
whole table at 0.05, and overlap of intervals is never used.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, TypeVar

from agentenv.paired import mcnemar, sign_flips

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Key = TypeVar("Key", bound=Hashable)

ALPHA = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class RankRange:
    """1 is best; `3-3` is a place that the data have settled."""

    low: int
    high: int

    def __str__(self) -> str:
        return str(self.low) if self.low == self.high else f"{self.low}-{self.high}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Results:
    """R agents on the same tasks of some envs; arrays by env, in one order."""

    success: Sequence[NDArray[np.int64]]
    """[R, T] successes, one array an env."""
    valid: Sequence[NDArray[np.int64]]
    """[R, T] valid attempts, at least 1."""
    scores: Sequence[NDArray[np.float64]] | None = None
    """[R, T] mean scores, where the suite is graded; they replace the rates."""


def holm(p_values: Mapping[Key, float]) -> dict[Key, float]:
    """Adjusted p-values (Holm, 1979): compare each with alpha itself."""
    adjusted: dict[Key, float] = {}
    worst = 0.0
    for place, (key, p) in enumerate(sorted(p_values.items(), key=lambda item: item[1])):
        worst = max(worst, min(1.0, (len(p_values) - place) * p))
        adjusted[key] = worst
    return adjusted


def rank_ranges(scores: Sequence[float], adjusted: Mapping[tuple[int, int], float]) -> list[RankRange]:
    """The range of each row, from its score and the adjusted p of every pair `(i, j)` with i < j."""
    better, worse = [0] * len(scores), [0] * len(scores)
    for (i, j), p in adjusted.items():
        if p <= ALPHA and scores[i] != scores[j]:
            winner, loser = (i, j) if scores[i] > scores[j] else (j, i)
            better[loser] += 1
            worse[winner] += 1
    return [RankRange(low=1 + b, high=len(scores) - w) for b, w in zip(better, worse, strict=True)]


def pair_p_values(results: Results, *, seed: int) -> dict[tuple[int, int], float]:
    """The paired test of every pair of rows: exact McNemar for one attempt at each task, else sign flips.

    Over several envs each env weighs the same, so McNemar needs equal numbers of tasks in them.
    """
    rows = len(results.valid[0]) if results.valid else 0
    pairs = list(combinations(range(rows), 2))
    if not pairs:
        return {}
    if results.scores is None and single_attempts(results):
        return dict(zip(pairs, _mcnemars(results, pairs), strict=True))
    return dict(zip(pairs, sign_flips(_differences(results, pairs), seed=seed), strict=True))


def single_attempts(results: Results) -> bool:
    """Whether McNemar's test applies: one attempt each, and every env with the same number of tasks."""
    sizes = {part.shape[1] for part in results.valid}
    return len(sizes) == 1 and all((part == 1).all() for part in results.valid)


def _mcnemars(results: Results, pairs: Sequence[tuple[int, int]]) -> list[float]:
    import numpy as np

    solved_RT = np.concatenate(results.success, axis=1)
    only_RR = solved_RT @ (1 - solved_RT).T  # [i, j]: tasks that i solved and j did not
    return [mcnemar(int(only_RR[i, j]), int(only_RR[j, i])) for i, j in pairs]


def _differences(results: Results, pairs: Sequence[tuple[int, int]]) -> NDArray[np.int64] | NDArray[np.float64]:
    """[P, T] the differences of each pair, every env with the same weight; whole numbers where rates allow it."""
    import numpy as np

    first, second = (list(side) for side in zip(*pairs, strict=True))
    values = list(results.scores) if results.scores is not None else whole_rates(results.success, results.valid)
    sizes = [part.shape[1] for part in values]
    whole = all(np.issubdtype(part.dtype, np.integer) for part in values)
    weights = [int(np.lcm.reduce(sizes)) // size for size in sizes] if whole else [1 / size for size in sizes]
    weighted = [part * weight for part, weight in zip(values, weights, strict=True)]
    together_RT = np.concatenate(weighted, axis=1)
    differences: NDArray[np.int64] | NDArray[np.float64] = together_RT[first] - together_RT[second]
    return differences


def whole_rates(
    success: Sequence[NDArray[np.int64]], valid: Sequence[NDArray[np.int64]]
) -> list[NDArray[np.int64]] | list[NDArray[np.float64]]:
    """Rates in units of one attempt at the least common number of attempts; plain rates where that is too large."""
    import math

    unit = 1
    for part in valid:
        for count in {int(n) for n in part.ravel()}:
            unit = math.lcm(unit, count)
            if unit > 10**6:
                return [c / n for c, n in zip(success, valid, strict=True)]
    return [c * (unit // n) for c, n in zip(success, valid, strict=True)]
