"""How a guess is marked, and which answers a mark leaves possible."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from envservers.games.wordle.words import LENGTH, answers


def mark(hidden: str, guess: str) -> str:
    """One of `g` (right place), `y` (another place) and `b` (not, or not so often) a letter, separated by blanks.

    Right places first; then the other letters from left to right, each letter of the hidden word used once.
    """
    marks = ["g" if h == g else "b" for h, g in zip(hidden, guess, strict=True)]
    unused = [h for h, g in zip(hidden, guess, strict=True) if h != g]
    for place, letter in enumerate(guess):
        if marks[place] == "b" and letter in unused:
            marks[place] = "y"
            unused.remove(letter)
    return " ".join(marks)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerIndex:
    """Sets of answers as bit masks: bit i stands for `answers()[i]`."""

    everything: int
    at: tuple[dict[str, int], ...]
    """By place, then letter: the answers with that letter there."""
    at_least: dict[tuple[str, int], int]
    """By letter and count: the answers with the letter at least that often."""

    def consistent(self, guess: str, marks: str) -> int:
        """The answers that would mark `guess` so."""
        left = self.everything
        pairs = list(zip(guess, marks.split(), strict=True))
        for place, (letter, colour) in enumerate(pairs):
            here = self.at[place].get(letter, 0)
            left &= here if colour == "g" else ~here
        for letter in dict.fromkeys(guess):
            colours = [c for g, c in pairs if g == letter]
            count = sum(c != "b" for c in colours)
            if count:
                left &= self.at_least.get((letter, count), 0)
            if "b" in colours:  # a letter marked absent says exactly how often it occurs
                left &= ~self.at_least.get((letter, count + 1), 0)
        return left


@cache
def answer_index() -> AnswerIndex:
    """The index over all answers, made at the first call (a few milliseconds)."""
    at: tuple[dict[str, int], ...] = tuple({} for _ in range(LENGTH))
    at_least: dict[tuple[str, int], int] = {}
    for i, word in enumerate(answers()):
        bit = 1 << i
        for place, letter in enumerate(word):
            at[place][letter] = at[place].get(letter, 0) | bit
            key = (letter, word.count(letter, 0, place + 1))
            at_least[key] = at_least.get(key, 0) | bit
    return AnswerIndex(everything=(1 << len(answers())) - 1, at=at, at_least=at_least)


def members(mask: int) -> list[str]:
    """The answers of a mask, sorted."""
    return [word for word, bit in zip(answers(), bin(mask)[:1:-1], strict=False) if bit == "1"]
