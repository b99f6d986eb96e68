"""Drawing for the world's parts. Only `Random.random()` is used, whose sequence Python promises to keep."""

from __future__ import annotations

import bisect
import hashlib
import random
from collections.abc import Sequence
from itertools import accumulate
from typing import TypeVar

T = TypeVar("T")


class Draw:
    """A stream of draws of its own for each (version, seed, size, part)."""

    def __init__(self, *key: str | int) -> None:
        digest = hashlib.sha256("/".join(str(part) for part in key).encode()).digest()
        self.random = random.Random(int.from_bytes(digest, "big")).random

    def chance(self, share: float) -> bool:
        """True in `share` of the draws."""
        return self.random() < share

    def below(self, n: int) -> int:
        """0..n-1."""
        return int(self.random() * n)

    def between(self, low: int, high: int) -> int:
        """low..high, both possible."""
        return low + self.below(high - low + 1)

    def bell(self, middle: float, spread: float) -> float:
        """About normal: within three spreads of the middle."""
        return middle + spread * 2 * (self.random() + self.random() + self.random() - 1.5)

    def pick(self, choices: Sequence[T]) -> T:
        """One of them."""
        return choices[self.below(len(choices))]

    def some(self, choices: Sequence[T], count: int) -> list[T]:
        """`count` different positions (all, if there are fewer), in an order of their own."""
        return self.shuffled(choices)[:count]

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """All of them, in another order."""
        rest = list(items)
        for last in range(len(rest) - 1, 0, -1):
            other = self.below(last + 1)
            rest[last], rest[other] = rest[other], rest[last]
        return rest


class Weighted:
    """Indices by weight."""

    def __init__(self, weights: Sequence[float]) -> None:
        self._sums = list(accumulate(weights))

    def draw(self, draw: Draw) -> int:
        """An index."""
        return min(bisect.bisect_right(self._sums, draw.random() * self._sums[-1]), len(self._sums) - 1)


def zipf(ranks: int, *, exponent: float = 0.9, head: int = 2) -> list[float]:
    """Weights of ranks 0.., the first largest; `head` flattens the very top."""
    return [round(1000.0 / (rank + 1 + head) ** exponent, 4) for rank in range(ranks)]


def split_evenly(draw: Draw, total: int, weights: Sequence[float]) -> list[int]:
    """Whole numbers in proportion to `weights`, none below 1 where the weight is positive, that sum to `total`."""
    scale = total / sum(weights)
    counts = [max(1, int(weight * scale)) if weight else 0 for weight in weights]
    places = [place for place, weight in enumerate(weights) if weight]
    while (missing := total - sum(counts)) != 0:
        place = draw.pick(places)
        if missing > 0 or counts[place] > 1:
            counts[place] += 1 if missing > 0 else -1
    return counts
