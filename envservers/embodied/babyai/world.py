"""The world in motion: six primitive moves, by minigrid's rules, in plain Python.

minigrid makes the worlds. Playing them here costs microseconds a move, where minigrid draws up an image after each
one, and a world of plain values can be copied. Tests play both side by side.
"""

from __future__ import annotations

from envservers.embodied.babyai.layout import HEADINGS, Layout, Place
from envservers.embodied.babyai.mission import DROP, FORWARD, LEFT, PICKUP, RIGHT, TOGGLE, Verdict, begin


class Thing:
    """What stands in a cell, or is held."""

    __slots__ = ("at", "color", "inside", "kind", "state")

    def __init__(self, kind: str, color: str, at: Place | None = None, state: str = "") -> None:
        self.kind, self.color, self.at, self.state = kind, color, at, state
        self.inside: Thing | None = None

    @property
    def passable(self) -> bool:
        """Whether one can stand in its cell."""
        return self.state == "open"

    @property
    def opaque(self) -> bool:
        """Whether it hides what is behind it."""
        return self.kind == "wall" or (self.kind == "door" and self.state != "open")

    @property
    def name(self) -> str:
        """Such as `grey key` or `red closed door`."""
        return f"{self.color} {self.state} {self.kind}" if self.state else f"{self.color} {self.kind}"


WALL = Thing("wall", "grey")


class World:
    """A layout being played."""

    def __init__(self, layout: Layout) -> None:
        self.width, self.height = len(layout.rows[0]), len(layout.rows)
        self.cells: list[Thing | None] = [WALL if mark == "#" else None for row in layout.rows for mark in row]
        """Row by row: cell (x, y) is `cells[y * width + x]`."""
        things = [Thing(item.kind, item.color, item.at, item.state) for item in layout.items]
        for thing, item in zip(things, layout.items, strict=True):
            if item.inside is not None:
                thing.inside = things[item.inside]
            if item.at is not None:
                self.cells[item.at[1] * self.width + item.at[0]] = thing
        self.x, self.y = layout.start
        self.heading = layout.heading
        self.carrying: Thing | None = None if layout.carrying is None else things[layout.carrying]
        self.goal = layout.goal
        self.max_moves, self.pitch = layout.max_moves, layout.pitch
        self.moves = 0
        self.progress = begin(layout.mission, things)
        self.success: bool | None = None
        """None until the mission is decided."""

    @property
    def ahead(self) -> Place:
        """The cell in front."""
        dx, dy = HEADINGS[self.heading]
        return self.x + dx, self.y + dy

    @property
    def thing_ahead(self) -> Thing | None:
        """What stands in the cell in front; walls all around keep it inside the grid."""
        dx, dy = HEADINGS[self.heading]
        return self.cells[(self.y + dy) * self.width + self.x + dx]

    def do(self, move: int) -> bool:
        """Make one primitive move and judge the mission; False where the move changed nothing."""
        changed = self._moved(move)
        self.moves += 1
        if move == DROP:
            self.progress.refresh()
        verdict = self.progress.judge(self, move)
        if verdict is not Verdict.OPEN:
            self.success = verdict is Verdict.DONE
        elif self.moves >= self.max_moves:
            self.success = False
        return changed

    def _moved(self, move: int) -> bool:
        if move == LEFT:
            self.heading = (self.heading - 1) % 4
            return True
        if move == RIGHT:
            self.heading = (self.heading + 1) % 4
            return True
        thing = self.thing_ahead
        if move == FORWARD:
            if thing is not None and not thing.passable:
                return False
            self.x, self.y = self.ahead
            return True
        if move == PICKUP:
            return thing is not None and self._pick_up(thing)
        if move == DROP:
            return thing is None and self._drop()
        if move == TOGGLE:
            return thing is not None and self._toggle(thing)
        raise ValueError(f"there is no primitive move {move}")

    def _pick_up(self, thing: Thing) -> bool:
        if self.carrying is not None or thing.kind in ("wall", "door"):
            return False
        self._put(None)
        self.carrying, thing.at = thing, None
        return True

    def _drop(self) -> bool:
        if self.carrying is None:
            return False
        self._put(self.carrying)
        self.carrying = None
        return True

    def _toggle(self, thing: Thing) -> bool:
        if thing.kind == "box":  # it is gone, and what was in it stands there
            thing.at = None
            self._put(thing.inside)
            return True
        if thing.kind != "door":
            return False
        if thing.state == "locked" and not self.fits(thing):
            return False
        thing.state = "closed" if thing.state == "open" else "open"
        return True

    def fits(self, door: Thing) -> bool:
        """Whether the hands hold the door's key."""
        held = self.carrying
        return held is not None and held.kind == "key" and held.color == door.color

    def _put(self, thing: Thing | None) -> None:
        x, y = self.ahead
        self.cells[y * self.width + x] = thing
        if thing is not None:
            thing.at = (x, y)
