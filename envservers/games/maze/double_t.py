"""The double-T maze: two T-shaped arms that meet in one corridor to the goal."""

from __future__ import annotations

from envservers.games.maze.layout import BIT, Position, Rows, after, encode

PICTURE = (
    "#############",
    "#.....#.....#",
    "###.#####.###",
    "###.#####.###",
    "###.#####.###",
    "###.......###",
    "######.######",
    "######.######",
    "######.######",
    "#############",
)
GOAL: Position = (8, 6)
STARTS: tuple[Position, ...] = (
    *((1, column) for column in (1, 2, 3, 4, 5, 7, 8, 9, 10, 11)),
    *((2, 3), (3, 3), (4, 3)),
    *((5, 3), (5, 4), (5, 5), (5, 6)),
    *((6, 6), (7, 6)),
    *((5, 7), (5, 8), (5, 9)),
    *((4, 9), (3, 9), (2, 9)),
)
"""Every open cell but the goal, in the listed order: game g starts in `STARTS[g]`."""
MAX_STEPS = 50


def layout() -> Rows:
    """The picture as rows of exits."""
    height, width = len(PICTURE), len(PICTURE[0])
    floor = [(r, c) for r in range(height) for c in range(width) if PICTURE[r][c] == "."]
    passages = {cell: sum(bit for d, bit in BIT.items() if after(cell, d) in floor) for cell in floor}
    return encode(height, width, passages)
