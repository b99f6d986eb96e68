"""Shortest ways over what has been seen of a world."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Collection, Iterable

from envservers.embodied.babyai.layout import HEADINGS, Place
from envservers.embodied.babyai.world import Thing, World

STEP, OPEN, UNLOCK, FETCH, SHOVE = 1, 3, 3, 40, 25
"""Costs of entering a cell: a free one, and besides that of opening a door or a box, of unlocking a door whose key is
held, or is known of, and of carrying a thing away."""

NO_COLORS: frozenset[str] = frozenset()


class Explored:
    """A world, and which of its cells have been seen so far."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.seen = bytearray(len(world.cells))

    def things(self, kind: str) -> list[Thing]:
        """Those on the floor that have been seen, in reading order."""
        cells = self.world.cells
        return [
            thing for cell, thing in enumerate(cells) if thing is not None and thing.kind == kind and self.seen[cell]
        ]

    @property
    def here(self) -> int:
        """The player's cell."""
        return self.cell_at((self.world.x, self.world.y))

    def cell_at(self, place: Place) -> int:
        """The number of a place's cell."""
        return place[1] * self.world.width + place[0]

    def cell_of(self, thing: Thing) -> int | None:
        """Where a thing was seen; None while it was not."""
        if thing.at is None:
            return None
        cell = self.cell_at(thing.at)
        return cell if self.seen[cell] else None

    def cells_of(self, places: Iterable[Place]) -> set[int]:
        """Those of the places that have been seen."""
        return {cell for place in places if self.seen[cell := self.cell_at(place)]}

    def is_new(self, cell: int) -> bool:
        """Whether it is still to be seen."""
        return not self.seen[cell]

    def is_new_inside(self, cell: int) -> bool:
        """Whether it is still to be seen and lies in a room, not in the lines of walls."""
        y, x = divmod(cell, self.world.width)
        return not self.seen[cell] and x % self.world.pitch != 0 and y % self.world.pitch != 0

    def is_free(self, cell: int) -> bool:
        """Whether nothing was seen to stand there; the player itself does not count."""
        return bool(self.seen[cell]) and self.world.cells[cell] is None

    def neighbours(self, cell: int) -> list[int]:
        """The four cells around one inside the outer walls, the one in the direction that the player faces first."""
        steps = [dy * self.world.width + dx for dx, dy in HEADINGS]
        return [cell + steps[(self.world.heading + turn) % 4] for turn in (0, 1, 3, 2)]

    def can_be_filled(self, cell: int) -> bool:
        """Whether a thing in this free cell would cut nothing off: no part of the floor, no thing and no door."""
        floor = self._floor(-1)
        if not self.is_free(cell) or cell not in floor or cell == self.here:
            return False
        left = self._floor(cell)
        if len(left) != len(floor) - 1:
            return False
        around = [other for other in self.neighbours(cell) if other not in floor and not self._is_wall(other)]
        return all(any(side in left for side in self.neighbours(other)) for other in around)

    def _is_wall(self, cell: int) -> bool:
        thing = self.world.cells[cell]
        return bool(self.seen[cell]) and thing is not None and thing.kind == "wall"

    def _floor(self, without: int) -> set[int]:
        """Cells that can be walked to from here without touching anything, one cell left out."""
        floor = {self.here}
        stack = [self.here]
        while stack:
            for cell in self.neighbours(stack.pop()):
                thing = self.world.cells[cell]
                if cell in floor or cell == without or not self.seen[cell] or not (thing is None or thing.passable):
                    continue
                floor.add(cell)
                stack.append(cell)
        return floor

    def way(
        self,
        is_goal: Callable[[int], bool],
        *,
        shut: frozenset[str] = NO_COLORS,
        doors: Collection[Thing] | None = None,
        clear: Callable[[Thing], int | None] = lambda _: None,
    ) -> list[int] | None:
        """The cells to walk, cheapest first, up to a goal cell, whatever stands in it; None where no way is known.

        Locked doors of the colors `shut` stay locked; with `doors`, all other closed ones stay closed too. `clear`
        tells what it costs to have a thing out of the way; None where it stays.
        """
        world, start = self.world, self.here
        keys = {key.color for key in self.things("key")} - shut
        best = {start: 0}
        came: dict[int, int] = {}
        queue = [(0, 0, start)]
        pushed = 0
        closed: set[int] = set()
        while queue:
            cost, _, cell = heapq.heappop(queue)
            if cell in closed:
                continue
            closed.add(cell)
            if cell != start and is_goal(cell):
                return self._path(came, cell)
            if not self.seen[cell]:
                continue
            entry = 0 if cell == start else self._cost(world.cells[cell], keys, doors, clear)
            if entry is None:
                continue
            for other in self.neighbours(cell):
                total = cost + entry + STEP
                if other not in closed and total < best.get(other, 1 << 30):
                    best[other] = total
                    came[other] = cell
                    pushed += 1
                    heapq.heappush(queue, (total, pushed, other))
        return None

    def _cost(
        self,
        thing: Thing | None,
        keys: set[str],
        doors: Collection[Thing] | None,
        clear: Callable[[Thing], int | None],
    ) -> int | None:
        """What it costs to clear a cell and go on from it; None where that cannot be."""
        if thing is None or thing.passable:
            return 0
        if thing.kind == "wall":
            return None
        if thing.kind != "door":
            return clear(thing)
        if doors is not None and not any(thing is door for door in doors):
            return None
        if thing.state == "closed":
            return OPEN
        if self.world.fits(thing):
            return UNLOCK
        return FETCH if thing.color in keys else None

    def _path(self, came: dict[int, int], cell: int) -> list[int]:
        path = []
        while cell in came:
            path.append(cell)
            cell = came[cell]
        return path[::-1]
