r"""What a reply says: its final answer, or one calculation.

The final answer stands after `####` on the same line (or alone on the next one), or in `\boxed{...}`. Of several the
last one that holds a number counts. What stands in `<think>...</think>` is thought, never an answer or a calculation.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from agentenv.reasoning import split_reasoning
from envservers.math.numbers import parse_number

MAX_PLACES = 40
"""Of the places where an answer is looked for, the last ones."""
MAX_BOX = 400
"""Characters of a box."""
_PLACE = re.compile(r"(?<!#)####(?!#)|\\boxed\s*\{")
_CALL = re.compile(r"\bcalculate\s*\[([^\[\]\n]*)\]", re.IGNORECASE)
_OPEN = re.compile(r"\bcalculate\s*\[", re.IGNORECASE)
_ROUND = re.compile(r"\bcalculate\s*\(", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Answer:
    """A final answer, or why there is none."""

    value: Fraction | None
    reason: str = ""


class Kind(StrEnum):
    """What a turn with a calculator is."""

    CALCULATE = "calculate"
    ANSWER = "answer"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Turn:
    """A reply as it was read where there is a calculator."""

    kind: Kind
    text: str = ""
    """The expression, or why the turn is refused."""
    value: Fraction | None = None
    """The answer."""


def read_answer(reply: str) -> Answer:
    """The final answer of a reply; never raises."""
    said = split_reasoning(reply)[0]
    places = list(_PLACE.finditer(said))[-MAX_PLACES:]
    for place in reversed(places):
        value = parse_number(_after(said, place))
        if value is not None:
            return Answer(value)
    where = "in \\boxed{}" if places and places[-1][0] != "####" else "after ####"
    return Answer(None, f"no single number stands {where}" if places else "no line says `#### number`")


def read_turn(reply: str) -> Turn:
    """The turn of a reply where there is a calculator: one calculation, or the answer; never raises."""
    said = split_reasoning(reply)[0]
    calls, opened = _CALL.findall(said), len(_OPEN.findall(said))
    answer = read_answer(reply)
    if opened and (answer.value is not None or "####" in said):
        return Turn(Kind.REFUSED, "a turn is a calculation or the answer, not both")
    if opened > 1:
        return Turn(Kind.REFUSED, "only one calculation a turn")
    if opened and not calls:
        return Turn(Kind.REFUSED, "calculate[ is not closed")
    if _ROUND.search(said) and answer.value is None and not opened:
        return Turn(Kind.REFUSED, "the brackets of calculate[expression] are square")
    if calls:
        return Turn(Kind.CALCULATE, calls[0].strip())
    return Turn(Kind.ANSWER, value=answer.value) if answer.value is not None else Turn(Kind.REFUSED, answer.reason)


def _after(said: str, place: re.Match[str]) -> str:
    rest = said[place.end() : place.end() + MAX_BOX]
    if place[0] != "####":
        return _box(rest)
    line, _, below = rest.partition("\n")
    return line if line.strip() else below.strip().partition("\n")[0]


def _box(rest: str) -> str:
    """Up to the brace that closes the box; empty where none does."""
    depth = 1
    for at, char in enumerate(rest):
        depth += (char == "{") - (char == "}")
        if depth == 0:
            return rest[:at]
    return ""
