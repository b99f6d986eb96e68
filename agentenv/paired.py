"""Two agents on the same tasks: exact McNemar with the Bonett-Price interval, and the sign-flip permutation test.

McNemar is for one attempt at each task, the sign flips for several attempts and for graded scores. Decide by the
p-value; the interval is for the size of the difference.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agentenv.intervals import Interval, z_quantile

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

FLIPS = 100_000
"""Random assignments of signs, where there are too many to go through all."""

ENUMERATED = 16
"""Up to so many differences that are not 0, all assignments of signs are gone through."""

LONGEST = 20_000
"""Bound on the sum of sizes up to which the law of whole numbers is computed; its square is the work."""

_TOGETHER = 16
"""Pairs that random flips are applied to at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Paired:
    """What two agents' results on shared tasks say."""

    tasks: int
    only_a: int
    """Tasks that A solved and B did not."""
    only_b: int
    difference: float
    """Rate of A minus rate of B."""
    p_value: float
    """Exact, two-sided."""
    interval: Interval
    """95 % interval of the difference."""


def compare(a: Sequence[bool], b: Sequence[bool]) -> Paired:
    """Compare results by task, in the same order. ValueError for lists of different lengths, or none."""
    if len(a) != len(b) or not a:
        raise ValueError(f"{len(a)} results beside {len(b)}: both agents must have played the same tasks")
    only_a = sum(x and not y for x, y in zip(a, b, strict=True))
    only_b = sum(y and not x for x, y in zip(a, b, strict=True))
    return Paired(
        tasks=len(a),
        only_a=only_a,
        only_b=only_b,
        difference=(only_a - only_b) / len(a),
        p_value=mcnemar(only_a, only_b),
        interval=bonett_price(only_a, only_b, len(a)),
    )


def mcnemar(b: int, c: int) -> float:
    """Exact two-sided p of `b` against `c` discordant tasks (a sign test); 1 without any."""
    n = b + c
    tail = sum(math.comb(n, k) for k in range(min(b, c) + 1))
    return float(min(1.0, 2 * tail / 2**n))


def bonett_price(b: int, c: int, tasks: int, *, confidence: float = 0.95) -> Interval:
    """Interval of the paired difference (b - c) / tasks (Bonett and Price, 2012), clipped to [-1, 1]."""
    center = (b - c) / (tasks + 2)
    variance = ((b + 1) / (tasks + 2) + (c + 1) / (tasks + 2) - center**2) / (tasks + 2)
    half = z_quantile(confidence) * math.sqrt(variance)
    return Interval(low=max(-1.0, center - half), high=min(1.0, center + half), method="bonett_price")


def sign_flip(differences: ArrayLike, *, seed: int, flips: int = FLIPS) -> float:
    """Two-sided p of the sum of paired differences, when each might as well have the other sign; 1 if all are 0.

    Exact for whole numbers of moderate size (differences of rates in units of one attempt) and for up to 16 differences
    that are not 0. Else seeded random flips, with p = (hits + 1) / (flips + 1).
    """

    return sign_flips([differences], seed=seed, flips=flips)[0]


def sign_flips(differences: Sequence[ArrayLike], *, seed: int, flips: int = FLIPS) -> list[float]:
    """`sign_flip` of pairs over the same tasks. Those that need random flips share them, and each has the p, to the
    last bit, that it has alone."""
    import numpy as np

    rows = [np.asarray(row) for row in differences]
    p_values = [_exact(row[row != 0]) for row in rows]
    drawn = [number for number, p in enumerate(p_values) if p is None]
    if drawn:
        for number, p in zip(drawn, _drawn([rows[number] for number in drawn], seed, flips), strict=True):
            p_values[number] = p
    return [p for p in p_values if p is not None]


def _exact(d: NDArray[Any]) -> float | None:
    """The p of differences none of which is 0; None where that takes too long."""
    import numpy as np

    if len(d) == 0:
        return 1.0
    if np.issubdtype(d.dtype, np.integer):
        unit = np.gcd.reduce(np.abs(d))
        sizes = np.abs(d) // unit
        if sizes.sum() <= LONGEST:
            return _whole(sizes, abs(int(d.sum() // unit)))
    return _enumerated(d.astype(np.float64)) if len(d) <= ENUMERATED else None


def _whole(sizes: NDArray[Any], seen: int) -> float:
    """From the law of the sum of those sizes that get a plus: a binomial law for each size, all convolved."""
    import numpy as np

    law = np.ones(1)
    for size, count in zip(*(part.tolist() for part in np.unique(sizes, return_counts=True)), strict=True):
        own = np.zeros(size * count + 1)
        own[::size] = _halves(count)
        law = np.convolve(law, own)
    sums = np.abs(2 * np.arange(len(law)) - (len(law) - 1))
    return float(min(1.0, law[sums >= seen].sum()))


@functools.lru_cache(maxsize=1024)
def _halves(count: int) -> tuple[float, ...]:
    """The binomial law of so many fair coins."""
    ways = [1]
    for plus in range(count):
        ways.append(ways[-1] * (count - plus) // (plus + 1))
    return tuple(number / 2**count for number in ways)


def _enumerated(d: NDArray[np.float64]) -> float:
    import numpy as np

    sums = np.zeros(1)
    for size in np.abs(d):
        sums = np.concatenate([sums + size, sums - size])
    return float(np.mean(np.abs(sums) >= _threshold(d[None, :])[0]))


def _drawn(rows: Sequence[NDArray[Any]], seed: int, flips: int) -> list[float]:
    import numpy as np

    rng = np.random.Generator(np.random.PCG64(seed))
    whole_PT = np.stack([_fixed(row) for row in rows])
    at_least_P, hits_P = _threshold(whole_PT), np.zeros(len(rows), dtype=np.int64)
    # either is exact, and the first is quicker
    exact: Any = np.float32 if np.abs(whole_PT).sum(axis=1).max() < 2**23 else np.float64
    d_TP, total_P = whole_PT.T.astype(exact), whole_PT.sum(axis=1).astype(exact)
    tasks = len(d_TP)
    chunk = max(1, 250_000 // tasks)  # what fits a processor's cache
    for start in range(0, flips, chunk):
        count = min(chunk, flips - start) * tasks
        bits = np.unpackbits(np.frombuffer(rng.bytes(-(-count // 8)), dtype=np.uint8), count=count)
        plus_FT = bits.reshape(-1, tasks).astype(exact)
        for first in range(0, len(rows), _TOGETHER):
            some = slice(first, first + _TOGETHER)
            sums_FP = 2 * _product(plus_FT, d_TP[:, some]) - total_P[some]
            hits_P[some] += (np.abs(sums_FP) >= at_least_P[some]).sum(axis=0)
    return [(int(hits) + 1) / (flips + 1) for hits in hits_P]


def _product(plus_FT: NDArray[Any], d_TP: NDArray[Any]) -> NDArray[Any]:
    """[F, P] by parts that are too small for several threads: these would wait for each other longer than they work,
    many times so where other processes want the cores."""
    import numpy as np

    product_FP = np.empty((len(plus_FT), d_TP.shape[1]), dtype=plus_FT.dtype)
    part = max(1, 200_000 // d_TP.size)
    for start in range(0, len(plus_FT), part):
        some = slice(start, start + part)
        np.matmul(plus_FT[some], d_TP, out=product_FP[some])
    return product_FP


def _fixed(d: NDArray[Any]) -> NDArray[np.float64]:
    """Differences as whole numbers, so that their sums are exact in whatever order, and beside whatever other pairs,
    they are computed; what is not whole gets a unit so small that rounding changes nothing."""
    import numpy as np

    if np.issubdtype(d.dtype, np.integer) and np.abs(d.astype(np.float64)).sum() < 2**51:
        return d.astype(np.float64)
    _, exponent = np.frexp(np.abs(d).max())
    whole: NDArray[np.float64] = np.rint(np.ldexp(d.astype(np.float64), 51 - len(d).bit_length() - int(exponent)))
    return whole


def _threshold(d_PT: NDArray[np.float64]) -> NDArray[np.float64]:
    """The sums that were seen, less what rounding may take from an equal one."""
    import numpy as np

    threshold: NDArray[np.float64] = np.abs(d_PT.sum(axis=1)) - 1e-9 * np.abs(d_PT).sum(axis=1)
    return threshold
