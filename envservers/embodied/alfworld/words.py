"""What is said: the sentences of the reference."""

from __future__ import annotations

from collections.abc import Iterable

from envservers.embodied.alfworld.house import House, State, lying_at, reachable, seen

PUT = {"put": "put {thing} in/on {place}", "move": "move {thing} to {place}"}
"""Words for putting down, by grammar: ALFWorld 0.3 and ALFWorld 0.4. Both are understood at all times."""
NOTHING_HAPPENS = "Nothing happens."
HELP = (
    "Available commands:\n"
    "  look: see where you are\n"
    "  inventory: see what you carry\n"
    "  go to (receptacle)\n"
    "  open (receptacle)\n"
    "  close (receptacle)\n"
    "  take (object) from (receptacle)\n"
    "  put (object) in/on (receptacle), also: move (object) to (receptacle)\n"
    "  examine (receptacle or object)\n"
    "  use (object)\n"
    "  clean (object) with (receptacle)\n"
    "  heat (object) with (receptacle)\n"
    "  cool (object) with (receptacle)"
)


def listed(names: Iterable[str]) -> str:
    """`a mug 1, a fork 2, and a plate 1`; `nothing` of none."""
    *rest, last = [f"a {name}" for name in names] or ["nothing"]
    return f"{', '.join(rest)}, and {last}" if rest else last


def opening(house: House) -> str:
    """The first observation: the room and the goal."""
    return f"{room(house)}\nYour task is to: {house.goal}"


def room(house: House) -> str:
    """The room from its middle: kinds in alphabetical order, the highest number first."""
    by_kind: dict[str, list[str]] = {}
    for name, kind in zip(house.places, house.place_kinds, strict=True):
        by_kind.setdefault(kind, []).insert(0, name)
    names = (name for kind in by_kind.values() for name in kind)
    return f"You are in the middle of a room. Looking quickly around you, you see {listed(names)}."


def where(house: House, state: State) -> str:
    """The answer to `look`."""
    if state.at is None:
        return room(house)
    return f"You are facing the {house.places[state.at]}. Next to it, you see nothing."


def place(house: House, state: State, number: int) -> str:
    """What one sees of a receptacle where one stands."""
    name = house.places[number]
    if not reachable(house, state):
        return f"The {name} is closed."
    names = listed(house.things[thing] for thing in lying_at(state, number))
    return (
        f"The {name} is open. In it, you see {names}." if house.openable(number) else f"On the {name}, you see {names}."
    )


def thing(house: House, state: State, number: int) -> str:
    """What one sees of a thing close by."""
    name = house.things[number]
    if house.can(number, "light"):
        return f"This {name} is {'on' if ('on', number) in state.marks else 'off'}."
    clean = ("clean", number) in state.marks
    warmth = "hot" if ("hot", number) in state.marks else "cool" if ("cool", number) in state.marks else ""
    if clean and warmth:
        return f"This is a {warmth} and clean {name}."
    if warmth:
        return f"This is a {'cold' if warmth == 'cool' else warmth} {name}."
    return f"This is a clean {name}." if clean else f"There's nothing special about {name}."


def carried(house: House, state: State) -> str:
    """The answer to `inventory`."""
    if state.held is None:
        return "You are not carrying anything."
    return f"You are carrying: a {house.things[state.held]}."


def in_sight(house: House, state: State) -> list[int]:
    """Things that can be examined: those that one sees and the one that one carries."""
    return seen(house, state) + ([] if state.held is None else [state.held])
