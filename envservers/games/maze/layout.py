"""What a maze is: one hexadecimal digit a cell, the sum of the directions in which one can leave it.

`rows[r][c]` is the cell in row r (growing downwards) and column c (growing to the right), both from 0.
A cell that can be left in no direction is solid.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence

Position = tuple[int, int]
"""Row and column."""
Rows = tuple[str, ...]

BIT = {"up": 1, "right": 2, "down": 4, "left": 8}
DELTA: dict[str, Position] = {"up": (-1, 0), "right": (0, 1), "down": (1, 0), "left": (0, -1)}
OPPOSITE = {"up": "down", "right": "left", "down": "up", "left": "right"}

_DIGITS = "0123456789abcdef"
_TURNED = str.maketrans(_DIGITS, "".join(_DIGITS[(d << 1 | d >> 3) & 15] for d in range(16)))
"""The digit of a cell after a quarter turn clockwise: up becomes right, and so on."""
_MIRRORED = str.maketrans(_DIGITS, "".join(_DIGITS[d & 5 | (d & 2) << 2 | (d & 8) >> 2] for d in range(16)))
"""The digit of a cell with left and right exchanged."""
_WAYS = {digit: tuple((name, DELTA[name]) for name in BIT if BIT[name] & d) for d, digit in enumerate(_DIGITS)}
"""By digit, every open direction and its step."""


def is_open(rows: Sequence[str], position: Position, direction: str) -> bool:
    """Whether one can leave `position` in `direction`."""
    row, column = position
    return bool(int(rows[row][column], 16) & BIT[direction])


def after(position: Position, direction: str) -> Position:
    """The cell next to `position`."""
    down, right = DELTA[direction]
    return position[0] + down, position[1] + right


def exits(rows: Sequence[str], position: Position) -> list[tuple[str, Position]]:
    """Every open direction and the cell behind it."""
    row, column = position
    return [(name, (row + down, column + right)) for name, (down, right) in _WAYS[rows[row][column]]]


def distances(rows: Sequence[str], goal: Position) -> dict[Position, int]:
    """Moves of the shortest path to `goal`, for each cell that it can be reached from."""
    found, queue = {goal: 0}, deque([goal])
    while queue:
        here = queue.popleft()
        for _, cell in exits(rows, here):
            if cell not in found:
                found[cell] = found[here] + 1
                queue.append(cell)
    return found


def encode(height: int, width: int, passages: dict[Position, int]) -> Rows:
    """Rows of the digits in `passages`; cells that it lacks are solid."""
    return tuple("".join(_DIGITS[passages.get((r, c), 0)] for c in range(width)) for r in range(height))


def canonical(rows: Rows) -> str:
    """One text for a layout and its turned and mirrored copies, the smallest of the eight."""
    return min("/".join(copy) for copy in symmetric_copies(rows))


def symmetric_copies(rows: Rows) -> Iterator[Rows]:
    """The layout turned by 0, 90, 180 and 270 degrees, each as it is and mirrored."""
    for _ in range(4):
        yield rows
        yield tuple(row[::-1].translate(_MIRRORED) for row in rows)
        rows = tuple("".join(column).translate(_TURNED) for column in zip(*rows[::-1], strict=True))
