"""What a command does: a pure function from a state to the next one and the words for it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from envservers.command import command
from envservers.embodied.alfworld import words
from envservers.embodied.alfworld.catalogue import TREATED_AT
from envservers.embodied.alfworld.house import MARKS, House, State, reachable, seen
from envservers.embodied.alfworld.words import NOTHING_HAPPENS

LONGEST = 200
"""Characters that a command may have; none is nearly as long."""

Done = tuple[State, str]

_PUT = re.compile(r"(?:put|move) (\w+ \d+) (in/on|into|onto|in|on|to) (\w+ \d+)")
_PAIR = re.compile(r"(take|clean|heat|cool) (\w+ \d+) (from|with|using) (\w+ \d+)")
_ONE = re.compile(r"(go to|goto|open|close|examine|look at|use|toggle) (\w+ \d+)")
_SAME = {"goto": "go to", "look at": "examine", "toggle": "use"}
"""Other words for a command."""


def read(text: str) -> str:
    """A command without capitals, needless blanks and the marks around it; empty when it is too long to be one."""
    return "" if len(text) > LONGEST else command(text)


def act(house: House, state: State, text: str) -> Done:
    """Do one command. What cannot be done changes nothing but the count of steps."""
    after, said = _act(house, state, read(text))
    return replace(after, steps=state.steps + 1), said


def _act(house: House, state: State, text: str) -> Done:
    if text in ("look", "inventory", "help"):
        return state, _ASKED[text](house, state)
    if match := _ONE.fullmatch(text):
        return _ON_ONE[_SAME.get(match[1], match[1])](house, state, match[2])
    if match := _PUT.fullmatch(text):
        moved = match[2] == "to"
        if moved == text.startswith("move "):
            return _put(house, state, match[1], match[3], moved=moved)
    if match := _PAIR.fullmatch(text):
        verb, thing, link, place = match.groups()
        if verb == "take" and link == "from":
            return _take(house, state, thing, place)
        if verb in TREATED_AT and link in ("with", "using"):
            return _treat(house, state, verb, thing, place)
    return state, NOTHING_HAPPENS


_ASKED: dict[str, Callable[[House, State], str]] = {
    "look": words.where,
    "inventory": words.carried,
    "help": lambda house, state: words.HELP,
}


def _go(house: House, state: State, name: str) -> Done:
    place = house.place_of.get(name)
    if place is None or place == state.at:
        return state, NOTHING_HAPPENS
    after = replace(state, at=place)
    return after, words.place(house, after, place)


def _open(house: House, state: State, name: str) -> Done:
    if not _stands_at(house, state, name) or reachable(house, state):
        return state, NOTHING_HAPPENS
    assert state.at is not None
    after = replace(state, opened=state.opened | {state.at})
    return after, f"You open the {name}. {words.place(house, after, state.at)}"


def _close(house: House, state: State, name: str) -> Done:
    if not _stands_at(house, state, name) or state.at not in state.opened:
        return state, NOTHING_HAPPENS
    return replace(state, opened=state.opened - {state.at}), f"You close the {name}."


def _examine(house: House, state: State, name: str) -> Done:
    if _stands_at(house, state, name):
        return state, words.place(house, state, house.place_of[name])
    thing = house.thing_of.get(name)
    if thing is None or thing not in words.in_sight(house, state):
        return state, NOTHING_HAPPENS
    return state, words.thing(house, state, thing)


def _use(house: House, state: State, name: str) -> Done:
    thing = house.thing_of.get(name)
    if thing is None or not house.can(thing, "light") or thing not in seen(house, state):
        return state, NOTHING_HAPPENS
    lit = ("on", thing) in state.marks
    after = replace(state, marks=state.marks ^ {("on", thing)})
    return after, f"You turn {'off' if lit else 'on'} the {name}."


_ON_ONE: dict[str, Callable[[House, State, str], Done]] = {
    "go to": _go,
    "open": _open,
    "close": _close,
    "examine": _examine,
    "use": _use,
}


def _take(house: House, state: State, name: str, at: str) -> Done:
    thing = house.thing_of.get(name)
    takes = thing in seen(house, state) and _stands_at(house, state, at) and state.held is None
    if thing is None or not takes:
        return state, NOTHING_HAPPENS
    return replace(state, held=thing, where=_with(state, thing, None)), f"You pick up the {name} from the {at}."


def _put(house: House, state: State, name: str, at: str, *, moved: bool) -> Done:
    thing = house.thing_of.get(name)
    puts = thing == state.held and _stands_at(house, state, at) and reachable(house, state)
    if thing is None or state.at is None or not puts or not house.fits(thing, state.at):
        return state, NOTHING_HAPPENS
    said = f"You move the {name} to the {at}." if moved else f"You put the {name} in/on the {at}."
    return replace(state, held=None, where=_with(state, thing, state.at)), said


def _treat(house: House, state: State, verb: str, name: str, at: str) -> Done:
    thing = house.thing_of.get(name)
    stands = state.at is not None and _stands_at(house, state, at) and house.place_kinds[state.at] == TREATED_AT[verb]
    if thing is None or thing != state.held or not stands or not house.can(thing, verb):
        return state, NOTHING_HAPPENS
    undone = {"heat": {("cool", thing)}, "cool": {("hot", thing)}}.get(verb, set())
    after = replace(state, marks=(state.marks - undone) | {(MARKS[verb], thing)})
    return after, f"You {verb} the {name} using the {at}."


def _stands_at(house: House, state: State, name: str) -> bool:
    return state.at is not None and house.places[state.at] == name


def _with(state: State, thing: int, place: int | None) -> tuple[int | None, ...]:
    return (*state.where[:thing], place, *state.where[thing + 1 :])
