"""When two worlds are one puzzle: equal up to a turn of the world, a mirror, and a renaming of colors."""

from __future__ import annotations

import re
from collections.abc import Iterable

from agentenv.protocol import digest_of
from envservers.embodied.babyai.layout import HEADINGS, Item, Layout, Place

COLORS = ("blue", "green", "grey", "purple", "red", "yellow")
DIGITS = 8
"""Hexadecimal digits of a digest."""

_COLOR = re.compile(rf"\b({'|'.join(COLORS)})\b")
_SIDE = re.compile(r"\b(left|right)\b")
_OTHER_SIDE = {"left": "right", "right": "left"}


def canonical_digest(layout: Layout) -> str:
    """Equal for equal puzzles. A player sees only what lies before it, so a turned world looks the same."""
    return min(digest_of(_form(layout, mirror)) for mirror in (1, -1))[:DIGITS]


def _form(layout: Layout, mirror: int) -> list[object]:
    """All that matters, with places counted from the player: steps in front, steps to its right (or left)."""
    goal = layout.goal if mirror == 1 else _SIDE.sub(lambda side: _OTHER_SIDE[side[0]], layout.goal)
    items = sorted(layout.items, key=lambda item: (item.at is not None, _from_start(layout, item.at, mirror)))
    names = _color_names(goal, items)
    hidden = {item.inside: item for item in layout.items if item.inside is not None}
    told = [
        [
            _from_start(layout, item.at, mirror),
            item.kind,
            names[item.color],
            item.state,
            None if item.inside is None else _from_start(layout, hidden[item.inside].at, mirror),
        ]
        for item in items
    ]
    walls = sorted(
        _from_start(layout, (x, y), mirror)
        for y, row in enumerate(layout.rows)
        for x, mark in enumerate(row)
        if mark == "#"
    )
    return [_COLOR.sub(lambda color: str(names[color[0]]), goal), layout.carrying is not None, told, walls]


def _from_start(layout: Layout, place: Place | None, mirror: int) -> list[int]:
    if place is None:
        return []
    (x, y), (fx, fy) = layout.start, HEADINGS[layout.heading]
    dx, dy = place[0] - x, place[1] - y
    return [dx * fx + dy * fy, mirror * (dy * fx - dx * fy)]


def _color_names(goal: str, items: Iterable[Item]) -> dict[str, int]:
    """Numbers of the colors, in the order in which goal and items bring them up."""
    names: dict[str, int] = {}
    for color in (*_COLOR.findall(goal), *(item.color for item in items)):
        names.setdefault(color, len(names))
    return names
