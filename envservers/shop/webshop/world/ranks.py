"""The ranking of a catalogue in memory: for drawing thousands of wishes, each of which is searched for.

Ranks as `Store.search` does, by FTS5's own formula (bm25 with k1 1.2 and b 0.75, an inverse document frequency of
10^-6 at least), over the postings that its index holds.
"""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from contextlib import closing
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from envservers.shop.webshop.store import HITS, TITLE_WEIGHT, TOKENIZE, query_words

K1, B = 1.2, 0.75
LEAST_IDF = 1e-6


class Ranks:
    """Answers as the store at `path`."""

    def __init__(self, path: Path) -> None:
        found: dict[str, dict[int, float]] = defaultdict(lambda: defaultdict(float))
        lengths: dict[int, int] = defaultdict(int)
        with closing(sqlite3.connect(path)) as db:
            db.execute("create virtual table temp.postings using fts5vocab(main, words, instance)")
            for term, number, column in db.execute("select term, doc, col from temp.postings"):
                found[term][number] += TITLE_WEIGHT if column == "title" else 1.0
                lengths[number] += 1
        self._count = max(lengths)
        sizes = np.array([lengths[number] for number in range(1, self._count + 1)], dtype=np.float64)
        norm = K1 * (1 - B + B * sizes / (sizes.sum() / self._count))
        self._gains = {term: _gains(rows, norm) for term, rows in found.items()}
        self._terms: dict[str, str] = {}
        self._stemmer = sqlite3.connect(":memory:")
        self._stemmer.execute(f"create virtual table said using fts5(word, tokenize='{TOKENIZE}')")
        self._stemmer.execute("create virtual table stems using fts5vocab(said, row)")

    def search(self, query: str) -> list[int]:
        """Numbers of the best products, best first."""
        total: NDArray[np.float64] = np.zeros(self._count)
        for word in query_words(query):
            places, gains = self._gains.get(self._term(word), (None, None))
            if places is not None and gains is not None:
                total[places] += gains
        matched = np.flatnonzero(total)
        ranks = np.round(-total[matched], 6)
        best = matched[np.lexsort((matched, ranks))[:HITS]]
        return [int(place) + 1 for place in best]

    def _term(self, word: str) -> str:
        if word not in self._terms:
            self._stemmer.execute("delete from said")
            self._stemmer.execute("insert into said values (?)", (word,))
            (self._terms[word],) = self._stemmer.execute("select term from stems").fetchone()
        return self._terms[word]


def _gains(rows: dict[int, float], norm: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Places of the products with a term, and what it adds to each one's score."""
    places = np.array(sorted(rows), dtype=np.int64) - 1
    often = np.array([rows[number] for number in sorted(rows)])
    idf = np.log((len(norm) - len(rows) + 0.5) / (len(rows) + 0.5))
    idf = idf if idf > 0 else LEAST_IDF
    return places, idf * often * (K1 + 1) / (often + norm[places])
