"""What there is in the world of this environment: kinds of things, of receptacles, of rooms and of chores."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

OPENABLE = frozenset({"cabinet", "drawer", "fridge", "microwave", "safe"})
TREATED_AT = {"clean": "sinkbasin", "heat": "microwave", "cool": "fridge"}
"""Verb, and the kind of receptacle that it needs."""
ROOMY = 6
"""Things that a receptacle holds at the start at most; those of `NARROW` hold fewer."""
NARROW = {"coffeemachine": 1, "handtowelholder": 1, "stoveburner": 1, "toiletpaperhanger": 1, "towelholder": 1}
LAMP = "desklamp"
UNSEEN = 6
"""So many rooms of each type, the first ones by number, are in test_unseen and test_ood alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ThingKind:
    """What is known of a kind of thing."""

    rooms: frozenset[str]
    """Types of rooms where it may lie about."""
    can: frozenset[str]
    """What can be done to it: clean, heat, cool, light."""
    fits: tuple[str, ...]
    """Kinds of receptacles that hold it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoomType:
    """What stands in the rooms of a type, as (least, most) by kind."""

    first: int
    last: int
    always: Mapping[str, tuple[int, int]]
    maybe: Mapping[str, tuple[int, int]]
    share: float
    """Of the rooms have a kind under `maybe`."""

    @property
    def kinds(self) -> frozenset[str]:
        """Every kind of receptacle that a room may have."""
        return frozenset(self.always) | frozenset(self.maybe)


@dataclass(frozen=True, slots=True, kw_only=True)
class Chore:
    """A kind of task."""

    rooms: tuple[str, ...]
    said: tuple[str, ...]
    held_out: tuple[str, ...]
    """Phrasings of test_ood alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """A chore with the thing and the receptacle (or lamp) that it is about."""

    chore: str
    thing: str
    place: str

    def __str__(self) -> str:
        """As in the reference: `pick_clean_then_place_in_recep-Mug-None-CoffeeMachine`."""
        return f"{self.chore}-{spelled(self.thing)}-None-{spelled(self.place)}"

    @classmethod
    def read(cls, text: str) -> Template:
        """The template of such a name."""
        chore, thing, _, place = text.split("-")
        return cls(chore=chore, thing=thing.lower(), place=place.lower())

    @property
    def held_out(self) -> bool:
        """Whether the pair of thing and receptacle is in test_ood alone; so is one of three pairs."""
        return hashlib.sha256(f"pair:{self.thing}:{self.place}".encode()).digest()[0] % 3 == 0

    @property
    def treatment(self) -> str:
        """The verb that the thing needs before it is put down: clean, heat or cool; empty without one."""
        return next((verb for verb in TREATED_AT if f"_{verb}_" in self.chore), "")


@functools.cache
def thing_kinds() -> Mapping[str, ThingKind]:
    """By name, in the order of the file."""
    return {
        name: ThingKind(rooms=frozenset(row["rooms"]), can=frozenset(row["can"]), fits=tuple(row["fits"]))
        for name, row in read_data("objects.yaml").items()
    }


@functools.cache
def room_types() -> Mapping[str, RoomType]:
    """By name, in the order of the file."""
    return {
        name: RoomType(
            first=row["numbers"][0],
            last=row["numbers"][1],
            always={kind: (low, high) for kind, (low, high) in row["always"].items()},
            maybe={kind: (low, high) for kind, (low, high) in row["maybe"].items()},
            share=row["share"],
        )
        for name, row in read_data("rooms.yaml").items()
    }


@functools.cache
def chores() -> Mapping[str, Chore]:
    """By name, in the order of the file."""
    return {name: Chore(**{k: tuple(v) for k, v in row.items()}) for name, row in read_data("goals.yaml").items()}


def room_type(number: int) -> str:
    """The type of a room by its number."""
    return next(name for name, type_ in room_types().items() if type_.first <= number <= type_.last)


def is_unseen(room: int) -> bool:
    """Whether a room is in test_unseen and test_ood alone."""
    return room - room_types()[room_type(room)].first < UNSEEN


@functools.cache
def templates(chore: str, room: str) -> tuple[Template, ...]:
    """Every template of a chore that a type of room may have."""
    type_ = room_types()[room]
    found = [Template(chore=chore, thing=thing, place=place) for thing, kind in thing_kinds().items()
             if room in kind.rooms for place in _places(chore, kind, type_)]  # fmt: skip
    return tuple(found)


def _places(chore: str, kind: ThingKind, type_: RoomType) -> tuple[str, ...]:
    if chore == "look_at_obj_in_light":
        return (LAMP,)
    verb = next((verb for verb in TREATED_AT if f"_{verb}_" in chore), "")
    if verb and verb not in kind.can:
        return ()
    # A thing that is washed in the sink basin would lie in its goal at once.
    return tuple(place for place in kind.fits if place in type_.kinds and place != TREATED_AT.get(verb))


@functools.cache
def spelled(kind: str) -> str:
    """A kind as the reference spells it in names of tasks."""
    return _spellings().get(kind, kind.capitalize())


@functools.cache
def _spellings() -> Mapping[str, str]:
    return {name.lower(): name for name in read_data("names.yaml")}


def read_data(name: str) -> Any:
    """A data file of this package."""
    import yaml

    return yaml.safe_load(files(__package__).joinpath(name).read_text(encoding="utf-8"))


def load() -> None:
    """Read every data file, which the first user of each would do."""
    thing_kinds(), room_types(), chores(), _spellings()
