"""What every retriever does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from envservers.search.passages import Passage


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage found."""

    id: int
    score: float
    passage: Passage


class Retriever(Protocol):
    """Ranks passages by `(-round(score, 6), id)`, so that equal corpora and queries give equal lists."""

    @property
    def digest(self) -> str:
        """Names the index: equal digests, equal lists. Empty where that cannot be known."""

    def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        """The best `k` hits of each query, best first; each query as if it were alone. Any thread may call."""
