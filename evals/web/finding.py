"""Looking for a text in an episode, in whatever case: its task, what was shown, said and done, and how it ended."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

AROUND = 50
"""Characters that are shown on either side of what was found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The first place of a text in an episode."""

    where: str
    """`task`, `action`, `observation`, ..."""
    turn: int | None
    """None outside of the turns."""
    before: str
    text: str
    after: str


def find(wanted: str, *, task: str, error: str, end: str, turns: Sequence[Mapping[str, Any]]) -> Found | None:
    """The first place, in the order of play."""
    needle = wanted.casefold()
    escaped = json.dumps(wanted, ensure_ascii=False)[1:-1].casefold()
    for where, turn, text, exact in _places(task, error, end, turns):
        at = text.casefold().find(needle if exact else escaped)
        if at >= 0:
            return _shown(where, turn, text, at, len(wanted))
    return None


def _places(
    task: str, error: str, end: str, turns: Sequence[Mapping[str, Any]]
) -> Iterator[tuple[str, int | None, str, bool]]:
    """Where to look: name, turn, text, and whether it is the text itself or its JSON."""
    yield "task", None, task, True
    for number, turn in enumerate(turns):
        shown = turn["observation"] if turn["blob"] is None else zlib.decompress(turn["blob"]).decode()
        yield "observation", number, shown, True
        yield "action", number, turn["action"], True
        if turn["malformed"] is not None:
            yield "parse failure", number, turn["malformed"], True
        if turn["extra"] is not None:
            yield "messages", number, zlib.decompress(turn["extra"]).decode("utf-8", "replace"), False
    yield "last observation", len(turns) - 1 if turns else None, end, True
    yield "error", None, error, True


def _shown(where: str, turn: int | None, text: str, at: int, length: int) -> Found:
    # a few letters are longer without case, so that the place is off by as many: it is for looking at
    return Found(
        where=where,
        turn=turn,
        before=text[max(0, at - AROUND) : at],
        text=text[at : at + length],
        after=text[at + length : at + length + AROUND],
    )
