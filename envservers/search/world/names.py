"""Invented names, each used once. Surnames and title words are shared on purpose: a name alone finds its namesakes."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from envservers.search.scoring import normalise

PEOPLE_A_SURNAME = 7
"""On average."""
GIVEN_NAMES = 260


class Namer:
    """Draws names from one pool; `taken` is shared by all pools, so that no two entities are called the same."""

    def __init__(self, pool: Mapping[str, Any], words: Mapping[str, Any], taken: set[str], seed: str, people: int):
        self._pool, self._words, self._taken = pool, words, taken
        self._rng = random.Random(seed)
        roots = [a + b + c for a, b, c in product(pool["starts"], pool["middles"], pool["ends"])]
        self._rng.shuffle(roots)
        self._roots: Iterator[str] = iter(roots)
        self._given = [next(self._roots).capitalize() for _ in range(min(GIVEN_NAMES, max(20, people // 20)))]
        self._surnames = [next(self._roots).capitalize() for _ in range(max(8, people // PEOPLE_A_SURNAME))]

    def name(self, kind: str, type: str) -> str:
        """A new name for an entity of a kind, which tells the type where such names do."""
        makers: Mapping[str, Callable[[], str]] = {
            "person": lambda: f"{self._pick(self._given)} {self._pick(self._surnames)}",
            "place": lambda: self._root() + self._pick(self._pool["places"]),
            "region": lambda: f"{self._root()} {self._words['called'][type]}",
            "work": self._title,
            "company": lambda: f"{self._pick(self._surnames)} {self._words['called'][type]}",
            "school": lambda: f"{self._pick(self._surnames)} {self._words['called'][type]}",
            "building": lambda: f"{self._pick(self._surnames)} {self._words['called'][type]}",
            "ship": lambda: (
                f"{self._pick(self._given)} of {self._root()}"
                if self._rng.random() < 0.3
                else f"{self._adjective()} {self._noun()}"
            ),
        }
        return self._unused(makers[kind], lambda: self._qualified(makers[kind]()))

    def alias(self, kind: str, name: str) -> str | None:
        """Another name for a person or a place; None where all that were tried are taken."""
        given = name.split()[0]
        made = (
            (f"{given} the {self._adjective()}" for _ in range(4))
            if kind == "person"
            else (f"Old {self._root()}" for _ in range(2))
        )
        return next((alias for alias in made if self._take(alias)), None)

    def _title(self) -> str:
        form = self._rng.random()
        if form < 0.45:
            return f"The {self._adjective()} {self._noun()}"
        if form < 0.8:
            one, other = self._noun(), self._noun()
            while other == one:
                other = self._noun()
            return f"The {one} and the {other}"
        return f"The {self._noun()} of {self._root()}"

    def _qualified(self, name: str) -> str:
        return f"{name} of {self._root()}"

    def _unused(self, make: Callable[[], str], last: Callable[[], str]) -> str:
        for _ in range(20):
            if self._take(name := make()):
                return name
        while not self._take(name := last()):
            pass
        return name

    def _take(self, name: str) -> bool:
        key = normalise(name)
        if key in self._taken:
            return False
        self._taken.add(key)
        return True

    def _root(self) -> str:
        return next(self._roots).capitalize()

    def _adjective(self) -> str:
        return self._pick(self._pool["adjectives"]).capitalize()

    def _noun(self) -> str:
        return self._pick(self._pool["nouns"]).capitalize()

    def _pick(self, options: Sequence[str]) -> str:
        return options[int(self._rng.random() * len(options))]
