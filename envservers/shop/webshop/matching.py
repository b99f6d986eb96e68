"""When two short texts count as the same, and which words of a title say what a product is."""

from __future__ import annotations

import functools
import re
from importlib.resources import files

ALIKE = 85
"""A ratio above this is a match."""

_TOKEN = re.compile(r"[^\W_]+")
_LETTERS = re.compile(r"[^\W\d_]{3,}")
_ENDINGS = ("able", "ible", "less", "ful", "ous", "ive", "ing", "ed", "ly", "est", "proof", "resistant", "friendly")


@functools.lru_cache(maxsize=8_192)
def token_set_ratio(one: str, other: str) -> int:
    """0 to 100: how alike two texts are when order and repetition of words do not count.

    The words that both have are compared with all words of either, and all words of the one with those of the other;
    the best of the three counts. So a text whose words are all in the other is a full match, and one without words
    matches nothing.
    """
    first, second = set(_TOKEN.findall(one.lower())), set(_TOKEN.findall(other.lower()))
    if not first or not second:
        return 0
    both = " ".join(sorted(first & second))
    left = " ".join(filter(None, (both, *sorted(first - second))))
    right = " ".join(filter(None, (both, *sorted(second - first))))
    return max(_ratio(both, left), _ratio(both, right), _ratio(left, right))


def alike(one: str, other: str) -> bool:
    """Whether two attributes, or two values of an option, count as the same."""
    return token_set_ratio(one, other) > ALIKE


@functools.lru_cache(maxsize=512)
def nouns(title: str) -> frozenset[str]:
    """The words of a title that say what it is, in lower case.

    Every word of three letters or more, but for those of `not_nouns.txt` and those that end like an adjective, a
    participle or an adverb. Names count, as proper nouns do.
    """
    words = {word for word in _LETTERS.findall(title.lower()) if not word.endswith(_ENDINGS)}
    return frozenset(words - _not_nouns())


@functools.cache
def _not_nouns() -> frozenset[str]:
    text = files(__package__).joinpath("not_nouns.txt").read_text(encoding="utf-8")
    return frozenset(word for line in text.splitlines() if not line.startswith("#") for word in line.split())


def _ratio(one: str, other: str) -> int:
    """Twice the length of the longest common subsequence, in per cent of both lengths together."""
    if not one or not other:
        return 0
    return round(100 * 2 * _common(one, other) / (len(one) + len(other)))


def _common(one: str, other: str) -> int:
    if one == other:
        return len(one)
    row = [0] * (len(other) + 1)
    for letter in one:
        before = 0
        for place, against in enumerate(other, start=1):
            above = row[place]
            row[place] = before + 1 if letter == against else max(above, row[place - 1])
            before = above
    return row[-1]
