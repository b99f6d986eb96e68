"""Generated mazes: square, thin walls between cells, every cell reachable."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from envservers.games.maze.layout import BIT, DELTA, OPPOSITE, Position, Rows, after, distances, encode

STYLES = ("corridors", "branches", "loops")
"""Long winding corridors; many short dead ends; corridors with some walls broken, so that ways meet again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Maze:
    """A layout with a way through it."""

    rows: Rows
    start: Position
    goal: Position
    shortest: int
    """Moves of the shortest path."""


PATHS: dict[str, Callable[[int], range]] = {
    "long": lambda size: range(2 * size, size * size),
    "short": lambda size: range(2, size + 1),
}
"""By name, the moves that a shortest path may take in a maze of a size."""


def generate(size: int, style: str, rng: random.Random, path: str = "long") -> Maze:
    """A maze of `size` x `size` cells with a shortest path as PATHS says."""
    wanted = PATHS[path](size)
    while True:
        passages = _tree(size, rng, newest=style != "branches")
        if style == "loops":
            _break_walls(size, passages, rng, count=size // 2)
        rows = encode(size, size, passages)
        goal = _farthest(rows, (rng.randrange(size), rng.randrange(size)))
        starts = {cell: d for cell, d in distances(rows, goal).items() if d in wanted}
        if starts:  # a length first, then a cell: long paths are as frequent as short ones
            shortest = rng.choice(sorted(set(starts.values())))
            start = rng.choice(sorted(cell for cell, d in starts.items() if d == shortest))
            return Maze(rows=rows, start=start, goal=goal, shortest=shortest)


def _tree(size: int, rng: random.Random, *, newest: bool) -> dict[Position, int]:
    """Grow a tree over all cells, from the newest cell for long corridors, else from any cell of the tree."""
    first = (rng.randrange(size), rng.randrange(size))
    passages, growing = {first: 0}, [first]
    while growing:
        i = len(growing) - 1 if newest else rng.randrange(len(growing))
        cell = growing[i]
        free = [(direction, near) for direction, near in _around(size, cell) if near not in passages]
        if not free:
            del growing[i]
            continue
        direction, near = rng.choice(free)
        growing.append(near)
        _open(passages, cell, direction)
    return passages


def _farthest(rows: Rows, cell: Position) -> Position:
    ways = distances(rows, cell)
    return max(sorted(ways), key=ways.__getitem__)


def _break_walls(size: int, passages: dict[Position, int], rng: random.Random, *, count: int) -> None:
    walls = [
        (cell, direction)
        for cell in sorted(passages)
        for direction, _ in _around(size, cell)
        if direction in ("right", "down") and not passages[cell] & BIT[direction]
    ]
    for cell, direction in rng.sample(walls, count):
        _open(passages, cell, direction)


def _open(passages: dict[Position, int], cell: Position, direction: str) -> None:
    behind = after(cell, direction)
    passages[cell] = passages.get(cell, 0) | BIT[direction]
    passages[behind] = passages.get(behind, 0) | BIT[OPPOSITE[direction]]


def _around(size: int, cell: Position) -> list[tuple[str, Position]]:
    """Directions and cells next to `cell` that lie in the square."""
    near = [(direction, after(cell, direction)) for direction in DELTA]
    return [(direction, (r, c)) for direction, (r, c) in near if 0 <= r < size and 0 <= c < size]
