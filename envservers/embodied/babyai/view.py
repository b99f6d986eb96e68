"""What is seen from where one stands, and the ways through it.

One sees seven cells wide and seven deep, oneself in the middle of the nearest row, and neither through walls nor
through doors that are not open. Cells of the view are numbered row by row, the farthest row first, from left to right.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass

from envservers.embodied.babyai.layout import HEADINGS, Place
from envservers.embodied.babyai.mission import FORWARD, LEFT, RIGHT
from envservers.embodied.babyai.world import WALL, Thing, World

SIZE = 7
HERE = SIZE * SIZE - 1 - SIZE // 2
"""The cell that one stands in."""
_TURNED_LEFT, _TURNED_RIGHT = (3, 0, 1, 2), (1, 2, 3, 0)


def _offset(cell: int, heading: int) -> tuple[int, int]:
    (fx, fy), ahead, side = HEADINGS[heading], SIZE - 1 - cell // SIZE, cell % SIZE - SIZE // 2
    return fx * ahead - fy * side, fy * ahead + fx * side


OFFSETS = tuple(tuple(_offset(cell, heading) for cell in range(SIZE * SIZE)) for heading in range(4))
"""By heading, then cell of the view: (dx, dy) from where one stands."""


def _neighbour(cell: int, turn: int) -> int:
    row, column = cell // SIZE + (-1, 0, 1, 0)[turn], cell % SIZE + (0, 1, 0, -1)[turn]
    return row * SIZE + column if 0 <= row < SIZE and 0 <= column < SIZE else -1


NEIGHBOURS = tuple(tuple(_neighbour(cell, turn) for turn in range(4)) for cell in range(SIZE * SIZE))
"""By cell, then direction (0 ahead, 1 right, 2 back, 3 left): the next cell, or -1 outside the view."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A thing in view."""

    name: str
    """With its number among the things in view of that name, nearest first: `red ball 1`."""
    thing: Thing
    cell: int
    ahead: int
    """Steps in front."""
    side: int
    """Steps to the right; negative to the left."""


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """One look."""

    cells: Sequence[Thing | None]
    """What stands in each cell of the view, seen or not; walls beyond the edge of the world."""
    visible: Sequence[bool]
    things: Sequence[Seen]
    """Everything in view but walls, nearest first."""

    def barrier(self) -> tuple[str, int] | None:
        """The nearest wall or box straight ahead, and how many steps away it is."""
        for steps in range(1, SIZE):
            cell = HERE - steps * SIZE
            thing = self.cells[cell]
            if self.visible[cell] and thing is not None and thing.kind in ("wall", "box"):
                return thing.kind, steps
        return None


def look(world: World) -> View:
    """What the player sees now."""
    x, y, width, height, grid = world.x, world.y, world.width, world.height, world.cells
    cells: list[Thing | None] = []
    for dx, dy in OFFSETS[world.heading]:
        column, row = x + dx, y + dy
        inside = 0 <= column < width and 0 <= row < height
        cells.append(grid[row * width + column] if inside else WALL)
    visible = _visible(cells)
    return View(cells=cells, visible=visible, things=_things(cells, visible))


def place_of(world: World, cell: int) -> Place:
    """The place in the world of a cell of the view."""
    dx, dy = OFFSETS[world.heading][cell]
    return world.x + dx, world.y + dy


def _visible(cells: Sequence[Thing | None]) -> list[bool]:
    """minigrid's rule: sight spreads from oneself sideways along each row and on to the row behind it."""
    visible = [False] * (SIZE * SIZE)
    visible[HERE] = True
    for row in range(SIZE - 1, -1, -1):
        start = row * SIZE
        for step, columns in ((1, range(SIZE - 1)), (-1, range(SIZE - 1, 0, -1))):
            for cell in range(start + columns[0], start + columns[-1] + step, step):
                if not visible[cell]:
                    continue
                thing = cells[cell]
                if thing is not None and thing.opaque:
                    continue
                visible[cell + step] = True
                if row:
                    visible[cell + step - SIZE] = True
                    visible[cell - SIZE] = True
    return visible


def _things(cells: Sequence[Thing | None], visible: Sequence[bool]) -> list[Seen]:
    found = []
    for cell in range(SIZE * SIZE):
        thing = cells[cell]
        if thing is None or not visible[cell] or thing.kind == "wall" or cell == HERE:
            continue
        ahead, side = SIZE - 1 - cell // SIZE, cell % SIZE - SIZE // 2
        found.append((ahead + abs(side), cell, ahead, side, thing))
    found.sort(key=lambda entry: entry[:2])
    numbers: Counter[str] = Counter()
    seen = []
    for _, cell, ahead, side, thing in found:
        name = thing.name
        numbers[name] += 1
        seen.append(Seen(name=f"{name} {numbers[name]}", thing=thing, cell=cell, ahead=ahead, side=side))
    return seen


@dataclass(frozen=True, slots=True, kw_only=True)
class Ways:
    """Shortest ways, as primitive moves, through free cells in view."""

    facing: dict[int, tuple[int, ...]]
    """By cell of a thing: until it is right in front."""
    onto: dict[int, tuple[int, ...]]
    """By cell of an open door: until one stands in it."""


def find_ways(view: View) -> Ways:
    """Breadth first over (cell, direction); straight on is preferred to left, left to right."""
    cells, visible = view.cells, view.visible
    free = [v and (t is None or t.state == "open") for v, t in zip(visible, cells, strict=True)]
    free[HERE] = True
    facing = {seen.cell: -1 for seen in view.things}
    onto = {seen.cell: -1 for seen in view.things if seen.thing.state == "open"}
    missing = len(facing) + len(onto)
    came = [-2] * (4 * SIZE * SIZE)
    came[4 * HERE] = -1
    queue = deque((4 * HERE,))
    while queue and missing:
        node = queue.popleft()
        cell, turn = node >> 2, node & 3
        front = NEIGHBOURS[cell][turn]
        if facing.get(front) == -1:
            facing[front] = node
            missing -= 1
        if onto.get(cell) == -1:
            onto[cell] = node
            missing -= 1
        reached = [4 * cell + _TURNED_LEFT[turn], 4 * cell + _TURNED_RIGHT[turn]]
        if front >= 0 and free[front]:
            reached.insert(0, 4 * front + turn)
        for other in reached:
            if came[other] == -2:
                came[other] = node
                queue.append(other)
    return Ways(
        facing={cell: _moves(came, node) for cell, node in facing.items() if node >= 0},
        onto={cell: _moves(came, node) for cell, node in onto.items() if node >= 0},
    )


def _moves(came: Sequence[int], node: int) -> tuple[int, ...]:
    moves = []
    while (before := came[node]) >= 0:
        if before >> 2 != node >> 2:
            moves.append(FORWARD)
        else:
            moves.append(LEFT if _TURNED_LEFT[before & 3] == node & 3 else RIGHT)
        node = before
    return tuple(reversed(moves))
