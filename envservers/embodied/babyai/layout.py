"""A world as plain values: what a level and a seed make, before anyone has moved."""

from __future__ import annotations

from dataclasses import dataclass

HEADINGS = ((1, 0), (0, 1), (-1, 0), (0, -1))
"""(dx, dy) of the headings 0 to 3: right, down, left, up. x grows to the right, y downwards."""

Place = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A door, a key, a ball or a box at the start."""

    kind: str
    color: str
    at: Place | None = None
    """None: in the hands or in a box."""
    state: str = ""
    """Of a door: open, closed or locked."""
    inside: int | None = None
    """Of a box: the number of the item in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """One thing to do. Items are told by their numbers in `Layout.items`."""

    verb: str
    """goto, open, pickup or putnext."""
    items: tuple[int, ...]
    """Any of these will do."""
    beside: tuple[int, ...] = ()
    """Of putnext: next to any of these."""
    strict: bool = False
    """Opening another door, or picking up another thing, fails the mission."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Both:
    """Two clauses in any order."""

    one: Clause
    other: Clause


@dataclass(frozen=True, slots=True, kw_only=True)
class Ordered:
    """`first`, and only then `then`."""

    first: Clause | Both
    then: Clause | Both


Mission = Clause | Both | Ordered


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """Everything about a world at its start."""

    rows: tuple[str, ...]
    """`#` is a wall, anything else floor."""
    items: tuple[Item, ...]
    start: Place
    heading: int
    """Index into HEADINGS."""
    mission: Mission
    goal: str
    """The mission in the level's own words."""
    max_moves: int
    """Primitive moves after which the mission has failed."""
    pitch: int
    """Walls between rooms lie where x or y is a multiple of this."""
    carrying: int | None = None
    """Number of the item that is held at the start."""
