"""A household as plain data: what there is, where it is, and what is asked for. Nothing here changes in place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from envservers.embodied.alfworld.catalogue import OPENABLE, Template, thing_kinds


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """All that changes in an episode. Places and things are numbers in the lists of the house."""

    at: int | None = None
    """The place where one stands; None in the middle of the room."""
    held: int | None = None
    where: tuple[int | None, ...]
    """The place of each thing; None of what is held."""
    opened: frozenset[int] = frozenset()
    marks: frozenset[tuple[str, int]] = frozenset()
    """What was done to things: ("clean", 3), ("hot", 3), ("cool", 3), and ("on", 5) of a lamp."""
    steps: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class House:
    """One room with its things, the goal, and how it begins."""

    room: int
    seed: int
    template: Template
    goal: str
    """The goal in words."""
    places: tuple[str, ...]
    """Kind and number of each receptacle, such as `cabinet 3`."""
    things: tuple[str, ...]
    start: State
    place_kinds: tuple[str, ...] = field(init=False)
    thing_kinds: tuple[str, ...] = field(init=False)
    place_of: Mapping[str, int] = field(init=False)
    """Number of a place by its name."""
    thing_of: Mapping[str, int] = field(init=False)

    def __post_init__(self) -> None:
        set_ = object.__setattr__  # derived once, so that no step has to
        set_(self, "place_kinds", tuple(name.partition(" ")[0] for name in self.places))
        set_(self, "thing_kinds", tuple(name.partition(" ")[0] for name in self.things))
        set_(self, "place_of", {name: number for number, name in enumerate(self.places)})
        set_(self, "thing_of", {name: number for number, name in enumerate(self.things)})

    def openable(self, place: int) -> bool:
        """Whether the place has a door."""
        return self.place_kinds[place] in OPENABLE

    def can(self, thing: int, verb: str) -> bool:
        """Whether the thing is of a kind that can be cleaned, heated, cooled or lit."""
        return verb in thing_kinds()[self.thing_kinds[thing]].can

    def fits(self, thing: int, place: int) -> bool:
        """Whether a place holds such things."""
        return self.place_kinds[place] in thing_kinds()[self.thing_kinds[thing]].fits


def reachable(house: House, state: State) -> bool:
    """Whether the hand gets into (or on to) the place where one stands."""
    return state.at is not None and (state.at in state.opened or not house.openable(state.at))


def lying_at(state: State, place: int) -> list[int]:
    """The things in or on a place."""
    return [thing for thing, where in enumerate(state.where) if where == place]


def seen(house: House, state: State) -> list[int]:
    """The things that one sees where one stands."""
    return lying_at(state, state.at) if state.at is not None and reachable(house, state) else []


MARKS = {"clean": "clean", "heat": "hot", "cool": "cool"}
"""Verb, and the mark that it leaves."""


def satisfied(house: House, state: State) -> bool:
    """Whether the goal is reached: the test that the goal's words tell."""
    wanted = house.template
    if wanted.chore == "look_at_obj_in_light":
        lit = any(("on", lamp) in state.marks and state.where[lamp] == state.at for lamp in _of(house, wanted.place))
        return lit and state.held is not None and house.thing_kinds[state.held] == wanted.thing
    need = 2 if wanted.chore == "pick_two_obj_and_place" else 1
    mark = MARKS.get(wanted.treatment)
    counts: dict[int, int] = {}
    for thing in _of(house, wanted.thing):
        place = state.where[thing]
        if place is None or house.place_kinds[place] != wanted.place or (mark and (mark, thing) not in state.marks):
            continue
        counts[place] = counts.get(place, 0) + 1
    return max(counts.values(), default=0) >= need


def _of(house: House, kind: str) -> Iterator[int]:
    return (number for number, name in enumerate(house.thing_kinds) if name == kind)
