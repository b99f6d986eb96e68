"""The commands that would do something now."""

from __future__ import annotations

import random
from collections.abc import Iterator

from envservers.embodied.alfworld.catalogue import TREATED_AT
from envservers.embodied.alfworld.house import House, State, reachable, seen
from envservers.embodied.alfworld.words import in_sight


def menu(house: House, state: State, *, put: str) -> list[str]:
    """Every command that is answered by more than `Nothing happens.`, once each, in an order that tells nothing.

    put: the words for putting down, a format string of `thing` and `place`.
    """
    commands = [*_anywhere(house, state), *_here(house, state, put)]
    random.Random(f"alfworld menu:{house.template}:{house.seed}:{state.steps}").shuffle(commands)
    return commands


def _anywhere(house: House, state: State) -> Iterator[str]:
    yield from ("look", "inventory", "help")
    yield from (f"go to {name}" for number, name in enumerate(house.places) if number != state.at)


def _here(house: House, state: State, put: str) -> Iterator[str]:
    at, held = state.at, state.held
    if at is None:
        return
    place = house.places[at]
    yield f"examine {place}"
    if house.openable(at):
        yield f"{'close' if at in state.opened else 'open'} {place}"
    for thing in in_sight(house, state):
        yield f"examine {house.things[thing]}"
    for thing in seen(house, state):
        if held is None:
            yield f"take {house.things[thing]} from {place}"
        if house.can(thing, "light"):
            yield f"use {house.things[thing]}"
    if held is not None:
        name = house.things[held]
        if reachable(house, state) and house.fits(held, at):
            yield put.format(thing=name, place=place)
        for verb, kind in TREATED_AT.items():
            if house.place_kinds[at] == kind and house.can(held, verb):
                yield f"{verb} {name} with {place}"
