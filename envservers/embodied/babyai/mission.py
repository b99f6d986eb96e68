"""Whether a mission is accomplished, judged after every primitive move, by minigrid's rules."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING

from envservers.embodied.babyai.layout import Both, Clause, Mission, Ordered, Place

if TYPE_CHECKING:
    from envservers.embodied.babyai.world import Thing, World

LEFT, RIGHT, FORWARD, PICKUP, DROP, TOGGLE = range(6)
"""The primitive moves, numbered as in minigrid."""


class Verdict(StrEnum):
    """Of a mission or a part of it."""

    OPEN = "open"
    DONE = "done"
    FAILED = "failed"


class Part:
    """A clause under way."""

    def __init__(self, clause: Clause, things: Sequence[Thing]) -> None:
        self.verb, self.strict = clause.verb, clause.strict
        self.things = [things[number] for number in clause.items]
        self.beside = [things[number] for number in clause.beside]
        self.done = False
        self.held_before: Thing | None = None
        """What was in the hands at the last judgement; a thing counts as picked up only from empty hands."""
        self.places: set[Place] = set()
        """Where `things` (of putnext: `beside`) stood when the mission began or something was last dropped."""
        self.refresh()

    def refresh(self) -> None:
        """Look again where the things are; those in hands or boxes are nowhere."""
        tracked = self.beside if self.verb == "putnext" else self.things
        self.places = {thing.at for thing in tracked if thing.at is not None}

    def parts(self) -> Iterator[Part]:
        """Itself, unless it is done."""
        if not self.done:
            yield self

    def judge(self, world: World, move: int) -> Verdict:
        """After `move` was made."""
        verdict = self._judged(world, move)
        self.done = verdict is Verdict.DONE
        return verdict

    def _judged(self, world: World, move: int) -> Verdict:
        held_before, self.held_before = self.held_before, world.carrying
        if self.verb == "goto":
            return Verdict.DONE if world.ahead in self.places else Verdict.OPEN
        if self.verb == "open":
            return self._opened(world) if move == TOGGLE else Verdict.OPEN
        if self.verb == "pickup":
            return self._picked_up(world, held_before) if move == PICKUP else Verdict.OPEN
        return self._put_beside(held_before) if move == DROP else Verdict.OPEN

    def _opened(self, world: World) -> Verdict:
        door = world.thing_ahead
        if door is None or door.kind != "door":
            return Verdict.OPEN
        if door.state == "open" and any(door is thing for thing in self.things):
            return Verdict.DONE
        return Verdict.FAILED if self.strict else Verdict.OPEN

    def _picked_up(self, world: World, held_before: Thing | None) -> Verdict:
        held = world.carrying
        if held is None:
            return Verdict.OPEN
        if held_before is None and any(held is thing for thing in self.things):
            return Verdict.DONE
        return Verdict.FAILED if self.strict else Verdict.OPEN

    def _put_beside(self, dropped: Thing | None) -> Verdict:
        if dropped is None or dropped.at is None or not any(dropped is thing for thing in self.things):
            return Verdict.OPEN
        x, y = dropped.at
        near = {(x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)}
        return Verdict.DONE if near & self.places else Verdict.OPEN


class EitherOrder:
    """Both parts, in any order; what was done once stays done."""

    def __init__(self, one: Part, other: Part) -> None:
        self.one, self.other = one, other

    def refresh(self) -> None:
        """See Part."""
        self.one.refresh()
        self.other.refresh()

    def parts(self) -> Iterator[Part]:
        """What is left to do."""
        yield from self.one.parts()
        yield from self.other.parts()

    def judge(self, world: World, move: int) -> Verdict:
        """See Part. The failure of a part is no failure here, as in minigrid."""
        for part in (self.one, self.other):
            if not part.done:
                part.judge(world, move)
        return Verdict.DONE if self.one.done and self.other.done else Verdict.OPEN


class InOrder:
    """`first`, then `then`; the move that ends the first may end the second too."""

    def __init__(self, first: Part | EitherOrder, then: Part | EitherOrder) -> None:
        self.first, self.then = first, then
        self.first_done = False

    def refresh(self) -> None:
        """See Part."""
        self.first.refresh()
        self.then.refresh()

    def parts(self) -> Iterator[Part]:
        """What is left to do, in order."""
        if not self.first_done:
            yield from self.first.parts()
        yield from self.then.parts()

    def judge(self, world: World, move: int) -> Verdict:
        """See Part."""
        if not self.first_done:
            verdict = self.first.judge(world, move)
            if verdict is not Verdict.DONE:
                return verdict
            self.first_done = True
        return self.then.judge(world, move)


Progress = Part | EitherOrder | InOrder


def begin(mission: Mission, things: Sequence[Thing]) -> Progress:
    """A mission at its start; `things` are the layout's items."""
    if isinstance(mission, Ordered):
        return InOrder(_begin(mission.first, things), _begin(mission.then, things))
    return _begin(mission, things)


def _begin(mission: Clause | Both, things: Sequence[Thing]) -> Part | EitherOrder:
    if isinstance(mission, Both):
        return EitherOrder(Part(mission.one, things), Part(mission.other, things))
    return Part(mission, things)
