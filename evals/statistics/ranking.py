"""Ranges of ranks: what one table may say about the order of its rows.

Every pair of rows is tested on the tasks that both played, Holm's step-down holds the chance of any false claim in the
whole table at 0.05, and overlap of intervals is never used.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
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
class Attempts:
    """What one row has on the tasks of one env, by task id; other rows of the section have the same tasks."""

    success: NDArray[np.int64]
    """[T]"""
    valid: NDArray[np.int64]
    """[T], at least 1."""
    scores: NDArray[np.float64] | None = None
    """[T] mean scores, where the suite is graded; they replace the rates."""


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


def pair_p_values(pairs: Sequence[tuple[Sequence[Attempts], Sequence[Attempts]]], *, seed: int) -> list[float]:
    """The paired test of each pair of rows, which are their envs in one order: exact McNemar for one attempt at each
    task, else sign flips. Over several envs each env weighs the same, so McNemar needs equal numbers of tasks in them.

    A pair's p depends on the two rows and on the seed, and not on the other pairs.
    """
    p_values: list[float] = [1.0] * len(pairs)
    flipped = []
    for number, (first, second) in enumerate(pairs):
        if single_attempts([*first, *second]):
            p_values[number] = _mcnemar(first, second)
        else:
            flipped.append(number)
    found = sign_flips([_differences(*pairs[number]) for number in flipped], seed=seed)
    for number, p in zip(flipped, found, strict=True):
        p_values[number] = p
    return p_values


def single_attempts(parts: Sequence[Attempts]) -> bool:
    """Whether McNemar's test applies: one attempt each, and every env with the same number of tasks."""
    return len({len(part.valid) for part in parts}) == 1 and all(
        part.scores is None and bool((part.valid == 1).all()) for part in parts
    )


def _mcnemar(first: Sequence[Attempts], second: Sequence[Attempts]) -> float:
    both = list(zip(first, second, strict=True))
    only_first, only_second = (
        sum(int((x.success > y.success).sum()) for x, y in sides) for sides in (both, [(b, a) for a, b in both])
    )
    return mcnemar(only_first, only_second)


def _differences(first: Sequence[Attempts], second: Sequence[Attempts]) -> NDArray[np.int64] | NDArray[np.float64]:
    """[T] every env with the same weight; whole numbers where rates allow it."""
    import numpy as np

    values = _values(first, second)
    sizes = [part.shape[1] for part in values]
    whole = all(np.issubdtype(part.dtype, np.integer) for part in values)
    weights = [int(np.lcm.reduce(sizes)) // size for size in sizes] if whole else [1 / size for size in sizes]
    parts = [(part[0] - part[1]) * weight for part, weight in zip(values, weights, strict=True)]
    differences: NDArray[np.int64] | NDArray[np.float64] = np.concatenate(parts)
    return differences


def _values(
    first: Sequence[Attempts], second: Sequence[Attempts]
) -> Sequence[NDArray[np.int64]] | Sequence[NDArray[np.float64]]:
    """[2, T] of each env."""
    import numpy as np

    both = list(zip(first, second, strict=True))
    graded = [(a.scores, b.scores) for a, b in both if a.scores is not None and b.scores is not None]
    if graded:
        return [np.stack(pair) for pair in graded]
    return whole_rates(
        [np.stack([a.success, b.success]) for a, b in both], [np.stack([a.valid, b.valid]) for a, b in both]
    )


def whole_rates(
    success: Sequence[NDArray[np.int64]], valid: Sequence[NDArray[np.int64]]
) -> list[NDArray[np.int64]] | list[NDArray[np.float64]]:
    """Rates in units of one attempt at the least common number of attempts; plain rates where that is too large."""
    import math

    import numpy as np

    unit = 1
    for part in valid:
        for count in np.unique(part).tolist():
            unit = math.lcm(unit, count)
            if unit > 10**6:
                return [c / n for c, n in zip(success, valid, strict=True)]
    return [c * (unit // n) for c, n in zip(success, valid, strict=True)]
