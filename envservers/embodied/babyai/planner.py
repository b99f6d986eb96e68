"""A scripted solution that knows of the world only what it has seen, and says it in the environment's own actions.

At each step it asks what the first open clause of the mission needs now: a way to a thing, empty hands, or a look at
what has not been seen yet. A locked door and a thing in the way are errands that come first.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

from envservers.embodied.babyai.layout import HEADINGS
from envservers.embodied.babyai.mission import FORWARD, RIGHT, Part
from envservers.embodied.babyai.play import make_moves, moves_of
from envservers.embodied.babyai.search import OPEN, SHOVE, Explored
from envservers.embodied.babyai.view import OFFSETS, look
from envservers.embodied.babyai.words import menu_of
from envservers.embodied.babyai.world import Thing, World

LONGEST_PLAN = 400
"""Actions after which a plan is given up."""
MOST_ERRANDS = 8
"""That wait for each other."""


@dataclass(slots=True, kw_only=True)
class Errand:
    """A door to unlock, or a thing to carry out of the way."""

    thing: Thing
    lifted: bool = False
    """The thing was picked up."""


def plan(world: World) -> list[str] | None:
    """Actions that accomplish the mission from here; None where none are found. The world stays as it is."""
    planner = Planner(copy.deepcopy(world))
    actions: list[str] = []
    while planner.world.success is None and len(actions) < LONGEST_PLAN:
        text = planner.next_action()
        if text is None:
            return None
        actions.append(text)
        planner.do(text)
    return actions if planner.world.success else None


class Planner:
    """Plays `world`, which it changes."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.explored = Explored(world)
        self._doors: Collection[Thing] | None = None  # the only ones that may be opened; None: any
        self._only_target = False  # nothing else may be picked up
        self._errands: list[Errand] = []
        self._look()

    def do(self, text: str) -> None:
        """Do one of the actions of `next_action` and look around."""
        make_moves(self.world, moves_of(text, self.menu) or ())
        self._look()

    def next_action(self) -> str | None:
        """What the mission needs now; None where nothing helps."""
        while self._errands and self._is_run(self._errands[-1]):
            self._errands.pop()
        if self._errands:
            return self._run(self._errands[-1])
        part = next(self.world.progress.parts())
        self._doors = part.things if part.strict and part.verb == "open" else None
        self._only_target = part.strict and part.verb == "pickup"
        needs = {"goto": self._go, "open": self._open, "pickup": self._pick_up, "putnext": self._put}
        return needs[part.verb](part)

    def _look(self) -> None:
        world = self.world
        self.view = look(world)
        self.menu = menu_of(world, self.view)
        self._names = {id(seen.thing): seen.name for seen in self.view.things}
        for (dx, dy), visible in zip(OFFSETS[world.heading], self.view.visible, strict=True):
            x, y = world.x + dx, world.y + dy
            if visible and 0 <= x < world.width and 0 <= y < world.height:
                self.explored.seen[y * world.width + x] = 1

    # What each kind of clause needs

    def _go(self, part: Part) -> str | None:
        if not part.places and self.world.carrying is not None:  # what is looked for is in the hands
            return self._put_down()
        return self._approach(self.explored.cells_of(part.places), "go to")

    def _open(self, part: Part) -> str | None:
        return self._approach(self._cells(part.things), "toggle")

    def _pick_up(self, part: Part) -> str | None:
        held = self.world.carrying
        if held is not None and any(held is thing for thing in part.things):  # it counts only from empty hands
            return self._put_down()
        return self._fetch(part.things)

    def _put(self, part: Part) -> str | None:
        held = self.world.carrying
        if held is None or not any(held is thing for thing in part.things):
            return self._fetch(part.things)
        if self.world.moves == 0:  # a thing held from the start counts only after the first move
            return "turn left"
        beside = self.explored.cells_of(part.places)
        if not beside:
            return self._explore()
        spots = {spot for cell in beside for spot in self.explored.neighbours(cell) if self.explored.is_free(spot)}
        if spots == {self.explored.here}:
            return self._step_aside()
        return self._approach(spots - {self.explored.here}, "drop")

    # What comes first

    def _fetch(self, things: Iterable[Thing]) -> str | None:
        """Pick one of the things up, with hands that are empty once no lock is left on the way."""
        goals = self._cells(things)
        path = self._way(goals.__contains__)
        if path is None:
            return self._explore()
        locked = any((thing := self.world.cells[cell]) is not None and thing.state == "locked" for cell in path)
        return self._put_down() if self.world.carrying is not None and not locked else self._follow(path, "pickup")

    def _approach(self, goals: Collection[int], verb: str) -> str | None:
        """Do `verb` to whatever is in one of the cells, or find out how to get there."""
        path = self._way(goals.__contains__)
        if path is not None:
            return self._follow(path, verb)
        return self._step_aside() if self.explored.here in goals else self._explore()

    def _explore(self) -> str | None:
        """See something new: the nearest unseen cell of a room, else one in a wall's place, else what is in a box."""
        for is_new in (self.explored.is_new_inside, self.explored.is_new):
            path = self._way(is_new)
            if path is not None:
                return self._follow(path, "look")
        wanted = (*self._wanted(), *(errand.thing for errand in self._errands))
        boxes = self._cells(self.explored.things("box")) - self._cells(wanted)
        path = self._way(boxes.__contains__)
        return None if path is None else self._follow(path, "toggle")

    def _wanted(self) -> Iterable[Thing]:
        for part in self.world.progress.parts():
            yield from part.things
            yield from part.beside

    def _way(self, is_goal: Callable[[int], bool]) -> list[int] | None:
        shut = frozenset(errand.thing.color for errand in self._errands if errand.thing.kind == "door")
        return self.explored.way(is_goal, shut=shut, doors=self._doors, clear=self._clearing)

    def _clearing(self, thing: Thing) -> int | None:
        """A box that nobody asks for is opened, and gone; other things are carried away, where that is allowed."""
        if self._may_open(thing):
            return OPEN
        return None if self._only_target else SHOVE

    def _may_open(self, thing: Thing) -> bool:
        return thing.kind == "box" and not any(thing is wanted for wanted in self._wanted())

    def _follow(self, path: list[int], verb: str) -> str | None:
        """The next action on a path, whose last cell is what `verb` is for."""
        for end, cell in enumerate(path, 1):
            thing = self.world.cells[cell] if self.explored.seen[cell] else None
            last = end == len(path)
            if thing is None or (thing.passable and not last):
                continue
            if thing.state == "locked" and not self.world.fits(thing) and (not last or verb == "toggle"):
                return self._first(Errand(thing=thing))
            if last:
                break
            if thing.kind == "door":
                return self._reach(path[:end], "toggle")
            if self._may_open(thing):
                return self._reach(path[:end], "toggle")
            if self.world.carrying is not None:
                return self._first(Errand(thing=thing))
            return self._reach(path[:end], "pickup")
        return self._reach(path, verb)

    def _first(self, errand: Errand) -> str | None:
        if len(self._errands) == MOST_ERRANDS or any(errand.thing is other.thing for other in self._errands):
            return None
        self._errands.append(errand)
        return self.next_action()

    def _is_run(self, errand: Errand) -> bool:
        if errand.thing.kind == "door":
            return errand.thing.state != "locked"
        held = errand.thing is self.world.carrying
        errand.lifted = errand.lifted or held
        return errand.lifted and not held

    def _run(self, errand: Errand) -> str | None:
        thing, held = errand.thing, self.world.carrying
        if thing.kind == "door" and self.world.fits(thing):
            return self._approach(self._cells([thing]), "toggle")
        if held is not None:
            return self._put_down()
        if thing.kind != "door":
            return self._approach(self._cells([thing]), "pickup")
        keys = self._cells(key for key in self.explored.things("key") if key.color == thing.color)
        return self._approach(keys, "pickup")

    def _put_down(self) -> str | None:
        """Drop what is held where it is in nobody's way, if there is such a place."""
        explored = self.explored
        path = explored.way(explored.can_be_filled, doors=())
        if path is None:
            path = explored.way(explored.is_free, doors=())
        return None if path is None else self._reach(path, "drop")

    # Actions

    def _reach(self, path: list[int], verb: str) -> str | None:
        """Walk a free path, then do `verb` to what is in its last cell."""
        thing = self.world.cells[path[-1]]
        name = self._names.get(id(thing))
        if name is not None:
            for text in (f"{verb} {name}", f"{verb} and go through {name}"):
                if text in self.menu:
                    return text
        if self.explored.cell_at(self.world.ahead) == path[-1] and verb in self.menu:
            return verb
        if verb == "toggle" and f"go to {name}" in self.menu:
            return f"go to {name}"
        return self._walk(path)

    def _walk(self, path: list[int]) -> str:
        """One action along a path: the one that gets farthest on it, else a single move."""
        ends = {self._end(moves): text for text, moves in self.menu.items() if text.startswith("go t")}
        for cell in reversed(path[1:-1]):
            if cell in ends:
                return ends[cell]
        if self.explored.cell_at(self.world.ahead) == path[0]:
            return "move forward"
        behind = self.explored.cell_at((self.world.x * 2 - self.world.ahead[0], self.world.y * 2 - self.world.ahead[1]))
        if path[0] == behind:
            return "turn right"
        right = HEADINGS[(self.world.heading + 1) % 4]
        return "turn right" if path[0] == self.explored.here + right[1] * self.world.width + right[0] else "turn left"

    def _end(self, moves: Sequence[int]) -> int:
        """Where turns and steps lead."""
        heading, cell = self.world.heading, self.explored.here
        for move in moves:
            if move == FORWARD:
                cell += HEADINGS[heading][1] * self.world.width + HEADINGS[heading][0]
            else:
                heading = (heading + (1 if move == RIGHT else -1)) % 4
        return cell

    def _step_aside(self) -> str | None:
        """Leave the cell that one stands in."""
        for cell in self.explored.neighbours(self.explored.here):
            thing = self.world.cells[cell]
            if thing is None or thing.passable:
                return self._walk([cell])
        return None

    def _cells(self, things: Iterable[Thing]) -> set[int]:
        return {cell for thing in things if (cell := self.explored.cell_of(thing)) is not None}
