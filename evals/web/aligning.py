"""Two episodes of one task beside each other, turn by turn, and where they part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest

from agentenv.trajectory import Turn


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One episode's turn; each text is cut where it begins to differ."""

    observation: tuple[str, str]
    """What both saw, and the rest."""
    action: tuple[str, str]
    malformed: str | None
    reward: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A turn of both; one is None where its episode had ended."""

    number: int
    a: Side | None
    b: Side | None
    differs: list[str]
    """`observation`, `action`, `reward`, `end`; empty as long as they are the same."""
    first: bool
    """The first turn that differs."""


def aligned(a: Sequence[Turn], b: Sequence[Turn]) -> list[Pair]:
    """By turn number: both began in the same state."""
    pairs: list[Pair] = []
    parted = False
    for number, (one, other) in enumerate(zip_longest(a, b)):
        differs = _differences(one, other)
        pairs.append(
            Pair(
                number=number,
                a=_side(one, other),
                b=_side(other, one),
                differs=differs,
                first=bool(differs) and not parted,
            )
        )
        parted = parted or bool(differs)
    return pairs


def _differences(one: Turn | None, other: Turn | None) -> list[str]:
    if one is None or other is None:
        return ["end"]
    return [name for name in ("observation", "action", "reward") if getattr(one, name) != getattr(other, name)]


def _side(own: Turn | None, other: Turn | None) -> Side | None:
    if own is None:
        return None
    return Side(
        observation=_cut(own.observation, other.observation if other else None),
        action=_cut(own.action, other.action if other else None),
        malformed=own.malformed,
        reward=own.reward,
    )


def _cut(text: str, other: str | None) -> tuple[str, str]:
    """The common beginning and the rest; all of it is common where the other episode has no such turn."""
    if other is None or text == other:
        return text, ""
    end = min(len(text), len(other))
    at = next((i for i in range(end) if text[i] != other[i]), end)
    return text[:at], text[at:]
