"""The word lists: `answers()` may be hidden, `guesses()` may be guessed; every answer is also a guess."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

LENGTH = 5
"""Letters of every word."""


def _read(name: str) -> tuple[str, ...]:
    return tuple(files("envservers.games.wordle").joinpath("data", name).read_text("ascii").split())


@cache
def answers() -> tuple[str, ...]:
    """Common words without plain inflections, sorted."""
    return _read("answers.txt")


@cache
def guesses() -> tuple[str, ...]:
    """Every word that counts as a guess, sorted."""
    return _read("guesses.txt")


@cache
def guess_set() -> frozenset[str]:
    """`guesses()` for look-ups."""
    return frozenset(guesses())


@cache
def vocabulary_text() -> str:
    """`guesses()` as one line for an observation."""
    return ", ".join(guesses())
