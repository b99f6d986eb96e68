"""BM25 over an index on disk, made and scored by bm25s."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import bm25s
import numpy as np

from envservers.search.passages import Passage, Passages
from envservers.search.retrieve.base import Hit

TOKENS = "1"
"""Version of the tokens and of the scoring; part of every index's key."""
K1, B = 0.9, 0.4
MAX_QUERY_TOKENS = 64
"""Further words of a query are not looked at."""
DECIMALS = 6
_WORD = re.compile(r"[^\W_]+")
_STOP = frozenset(
    _WORD.findall(
        "a an and are as at be but by did do does for from had has have he her his if in into is it its not of on or s "
        "she such t that the their them then there these they this to was were what when where which who whom whose "
        "will with"
    )
)


def tokens(text: str) -> list[str]:
    """Words in lower case and without the commonest ones; compatibility forms of Unicode count as equal."""
    return [word for word in _WORD.findall(unicodedata.normalize("NFKC", text).lower()) if word not in _STOP]


def write_index(passages: Iterable[Passage], folder: Path) -> None:
    """Index titles and texts into `folder`."""
    index = bm25s.BM25(method="lucene", k1=K1, b=B, backend="numpy")
    index.index([tokens(f"{p.title} {p.text}") for p in passages], show_progress=False)
    index.save(str(folder), show_progress=False)


class Bm25:
    """The default retriever."""

    def __init__(self, folder: Path, passages: Passages, digest: str) -> None:
        self._index: Any = bm25s.BM25.load(str(folder), mmap=True, show_progress=False)
        self._passages = passages
        self._digest = digest

    @property
    def digest(self) -> str:
        """See Retriever."""
        return self._digest

    def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        """See Retriever."""
        return [self._one(query, k) for query in queries]

    def _one(self, query: str, k: int) -> list[Hit]:
        known = self._index.vocab_dict
        wanted = [known[word] for word in tokens(query)[:MAX_QUERY_TOKENS] if word in known]
        if not wanted:
            return []
        scores = self._index.get_scores_from_ids(wanted)
        return [Hit(id, score, self._passages[id]) for id, score in ranked(scores, k)]


def ranked(scores: np.ndarray, k: int) -> list[tuple[int, float]]:
    """Ids and scores of the best `k` that are above zero, by `(-round(score, 6), id)`."""
    # Most scores are zero, and a partition of equal numbers is slow.
    found = np.flatnonzero(scores >= 10.0**-DECIMALS)
    if k < 1 or not len(found):
        return []
    values = scores[found]
    if len(values) > k:
        worst = np.partition(values, len(values) - k)[len(values) - k]
        # What may round to the same number as the last of the best takes part in the ranking.
        found = found[values >= worst - 2 * 10.0**-DECIMALS]
    pairs = sorted((-round(float(scores[i]), DECIMALS), int(i)) for i in found)
    return [(i, -score) for score, i in pairs[:k]]
