"""Two agents on the same tasks, one attempt each: the exact McNemar test and the Bonett-Price interval.

Decide by the p-value; the interval is for the size of the difference.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from agentenv.intervals import Interval, z_quantile


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
