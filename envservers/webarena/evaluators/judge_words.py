"""Whether an answer says what a reference says, by words, numbers, dates and durations. Deterministic, and modest:
what is said in other words is not found.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from decimal import Decimal

from envservers.webarena.evaluators.replies import MONTHS

Token = str | Decimal

_NUMBER = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+"
_TOKEN = re.compile(rf"(?P<sign>(?<![\w.)])[-−](?=[$€£]?[\d.]))?[$€£]?(?P<number>{_NUMBER})|(?P<word>[^\W\d_]+)")
_ORDINAL = re.compile(r"(?<=\d)(?:st|nd|rd|th)\b")
_GAP = r"\W{0,3}(?:and\s+)?"
_DURATION = re.compile(
    rf"(?:(?P<h>{_NUMBER})\s*(?:hours?|hrs?|h)\b)?{_GAP}(?:(?P<m>{_NUMBER})\s*(?:minutes?|mins?|m)\b)?{_GAP}"
    rf"(?:(?P<s>{_NUMBER})\s*(?:seconds?|secs?|s)\b)?"
)
_ARTICLES = frozenset({"the", "a", "an"})


def tokens(text: str) -> list[Token]:
    """Words in folded case and numbers by value; signs between them do not count, nor does a currency before one."""
    text = _ORDINAL.sub("", unicodedata.normalize("NFKC", text).casefold())
    found: list[Token] = []
    for match in _TOKEN.finditer(text):
        if match["number"]:
            value = Decimal(match["number"].replace(",", ""))
            found.append((-value if match["sign"] else value).normalize() + 0)
        else:
            word = match["word"]
            found.append(word[:3] if word in MONTHS else word)
    return found


def has_run(text: Sequence[Token], part: Sequence[Token]) -> bool:
    """Whether the tokens of `part` stand in a row in `text`."""
    return any(list(text[start : start + len(part)]) == list(part) for start in range(len(text) - len(part) + 1))


def says_the_same(reference: str, answer: str) -> bool:
    """Whether the reference's words stand in a row in the answer, or its duration does in another spelling.

    Of an answer in items, one item is enough for each reference. An empty answer says nothing.
    """
    wanted, said = _bare(tokens(reference)), _bare(tokens(answer))
    if not wanted or not said:
        return reference.strip().casefold() == answer.strip().casefold() != ""
    if has_run(said, wanted) or _labelled(reference, answer):
        return True
    seconds = _only_duration(reference)
    return seconds is not None and seconds in set(_durations(answer))


def _bare(found: list[Token]) -> list[Token]:
    return [token for token in found if token not in _ARTICLES]


def _labelled(reference: str, answer: str) -> bool:
    """`driving: 15min` against an item of an answer that has the label and the value, in some order."""
    label, colon, value = reference.partition(":")
    if not colon or not label.strip() or not value.strip() or any(map(str.isdigit, label)):
        return False
    seconds = _only_duration(value)
    for item in re.split(r"[\n;]|,(?!\d)|\band\b", answer):
        if has_run(_bare(tokens(item)), _bare(tokens(label))):
            same_value = has_run(_bare(tokens(item)), _bare(tokens(value)))
            if same_value or (seconds is not None and seconds in set(_durations(item))):
                return True
    return False


def _only_duration(text: str) -> Decimal | None:
    """The seconds of a text that is a duration and nothing else."""
    match = _DURATION.fullmatch(text.strip().strip(".").casefold())
    return _seconds(match) if match else None


def _durations(text: str) -> Iterator[Decimal]:
    for match in re.finditer(rf"(?<![\w.,])(?=[\d.]){_DURATION.pattern}", text.casefold()):
        seconds = _seconds(match)
        if seconds is not None:
            yield seconds


def _seconds(match: re.Match[str]) -> Decimal | None:
    given = [(match[name], factor) for name, factor in (("h", 3600), ("m", 60), ("s", 1)) if match[name]]
    if not given:
        return None
    return sum((Decimal(number.replace(",", "")) * factor for number, factor in given), Decimal(0))
