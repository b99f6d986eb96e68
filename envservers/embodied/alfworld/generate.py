"""Rooms and households from numbers: equal numbers, equal households."""

from __future__ import annotations

import functools
import random
from collections import Counter

from agentenv.protocol import digest_of
from envservers.embodied.alfworld.catalogue import (
    LAMP,
    NARROW,
    OPENABLE,
    ROOMY,
    Template,
    chores,
    room_type,
    room_types,
    thing_kinds,
)
from envservers.embodied.alfworld.house import House, State

LYING_ABOUT = (0, 1, 1, 1, 2)
"""How many things of a kind lie about in a room that may have it."""
DECOY_SHARE = 0.6
"""Of the households where a thing is to be treated have another one in the goal's place that is not."""
OPEN_SHARE = 0.1
"""Of the places with a door are open at the start."""
DIGITS = 8
"""Hexadecimal digits of a household's digest."""


@functools.cache
def places_of(room: int) -> tuple[str, ...]:
    """The receptacles of a room by name, in alphabetical order of kinds; the number of the room alone decides."""
    type_ = room_types()[room_type(room)]
    rng = random.Random(f"alfworld room:{room}")
    counts = {kind: rng.randint(*span) for kind, span in type_.always.items()}
    for kind, span in type_.maybe.items():
        there, count = rng.random() < type_.share, rng.randint(*span)
        if there:
            counts[kind] = count
    return tuple(f"{kind} {number}" for kind in sorted(counts) for number in range(1, counts[kind] + 1))


def has_room_for(template: Template, room: int) -> bool:
    """Whether the room has what the template needs: its receptacle, and somewhere else for the things to lie."""
    kinds = {name.partition(" ")[0] for name in places_of(room)}
    if template.place != LAMP and template.place not in kinds:
        return False
    return len(kinds & set(thing_kinds()[template.thing].fits) - {template.place}) >= 2


def make_house(template: Template, room: int, seed: int) -> House:
    """The household of a task."""
    rng = random.Random(f"alfworld house:{template}:{room}:{seed}")
    places = places_of(room)
    lying = _Lying(rng, places)
    kinds = _kinds(template, room, rng)
    for kind in rng.sample(kinds, len(kinds)):
        # What the goal asks for does not lie in the goal's place already.
        lying.put(kind, without=template.place if kind == template.thing else "")
    if template.treatment and rng.random() < DECOY_SHARE:
        lying.put(template.thing, only=template.place)
    things, where = lying.named()
    opened = [n for n, name in enumerate(places) if name.partition(" ")[0] in OPENABLE and rng.random() < OPEN_SHARE]
    chore = chores()[template.chore]
    said = rng.choice(chore.held_out if template.held_out else chore.said)
    return House(
        room=room,
        seed=seed,
        template=template,
        goal=said.format(thing=template.thing, place=template.place),
        places=places,
        things=things,
        start=State(where=where, opened=frozenset(opened)),
    )


def _kinds(template: Template, room: int, rng: random.Random) -> list[str]:
    """The kinds of all the things, one entry for each thing."""
    type_ = room_type(room)
    counts = {kind: rng.choice(LYING_ABOUT) for kind, about in thing_kinds().items() if type_ in about.rooms}
    counts[template.thing] = rng.choice((1, 2)) + (template.chore == "pick_two_obj_and_place")
    if type_ in chores()["look_at_obj_in_light"].rooms:
        counts[LAMP] = max(rng.randint(0, 1), int(template.place == LAMP))
    return [kind for kind, count in counts.items() for _ in range(count)]


class _Lying:
    """Things being laid out in a room: first which kind of receptacle, each alike, then which one of them."""

    def __init__(self, rng: random.Random, places: tuple[str, ...]) -> None:
        self._rng = rng
        self._free: dict[str, list[int]] = {}
        for number, name in enumerate(places):
            kind = name.partition(" ")[0]
            self._free.setdefault(kind, []).extend([number] * NARROW.get(kind, ROOMY))
        self._laid: list[tuple[str, int]] = []

    def put(self, kind: str, *, without: str = "", only: str = "") -> None:
        """Lay one thing down where there is room; not at all where there is none."""
        fits = [only] if only else [place for place in thing_kinds()[kind].fits if place != without]
        choices = [place for place in fits if self._free.get(place)]
        if not choices:
            return
        free = self._free[self._rng.choice(choices)]
        self._laid.append((kind, free.pop(self._rng.randrange(len(free)))))

    def named(self) -> tuple[tuple[str, ...], tuple[int, ...]]:
        """Names and places of the things, in an order and with numbers that tell nothing."""
        self._rng.shuffle(self._laid)
        counts: Counter[str] = Counter()
        names = []
        for kind, _ in self._laid:
            counts[kind] += 1
            names.append(f"{kind} {counts[kind]}")
        return tuple(names), tuple(place for _, place in self._laid)


def canonical_form(house: House) -> list[object]:
    """What makes two households one puzzle, whatever the numbers of places and things and the words of the goal."""
    inside: list[list[str]] = [[] for _ in house.places]
    for kind, place in zip(house.thing_kinds, house.start.where, strict=True):
        assert place is not None
        inside[place].append(kind)
    laid_out = sorted(
        [kind, number in house.start.opened, sorted(inside[number])] for number, kind in enumerate(house.place_kinds)
    )
    return [str(house.template), laid_out]


def canonical_digest(house: House) -> str:
    """Of the canonical form."""
    return digest_of(canonical_form(house))[:DIGITS]
