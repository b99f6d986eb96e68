"""How the world is told and moved: descriptions, actions, and why an action cannot be done."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from envservers.embodied.babyai.mission import DROP, FORWARD, LEFT, PICKUP, RIGHT, TOGGLE
from envservers.embodied.babyai.view import Seen, View, Ways, find_ways
from envservers.embodied.babyai.world import Thing, World

LONGEST_TEXT = 200
"""Characters; a longer action is unknown, unread."""
CHECK = "check available actions"
PRIMITIVES: Mapping[str, int] = {
    "turn left": LEFT,
    "turn right": RIGHT,
    "move forward": FORWARD,
    "pickup": PICKUP,
    "drop": DROP,
    "toggle": TOGGLE,
    "left": LEFT,
    "right": RIGHT,
    "forward": FORWARD,
}
"""Actions that are one primitive move each, and may be tried at any time."""
IN_VAIN: Mapping[int, str] = {
    FORWARD: "There is a barrier in front of you, you can't move forward.",
    PICKUP: "You cannot pick anything up: your hands are full, or nothing in front of you can be carried.",
    DROP: "You cannot drop anything: you are not carrying anything, or the cell in front of you is not free.",
    TOGGLE: "Nothing to toggle: there is no door or box in front of you, or the door is locked and you lack its key.",
}
"""What is said of a primitive move that changed nothing."""
UNKNOWN = "The action is not recognized. Please check valid actions."

Menu = Mapping[str, tuple[int, ...]]
"""Actions that make sense now, each with its primitive moves; none for CHECK."""

_NOISE = re.compile(r"[^a-z0-9 ]+")
_TARGETED = re.compile(r"(toggle and go through|go through|pickup|go to) (?:the |an? )?(.+?)(?: (\d+))?")

_DOOR = re.compile(r"(\w+) (?:(\w+) )?door \d+")


def read_action(text: str) -> str:
    """An action as the menu spells it: lower case, `pickup` in one word, no punctuation; empty where too long."""
    if len(text) > LONGEST_TEXT:
        return ""
    plain = " ".join(_NOISE.sub("", text.lower().replace("_", " ")).split())
    plain = re.sub(r"\bpick up\b", "pickup", plain)
    if plain.startswith("check"):
        return CHECK
    targeted = _TARGETED.fullmatch(plain)
    if targeted and targeted[2] != "goal":
        return f"{targeted[1]} {targeted[2]} {targeted[3] or 1}"  # without a number, the nearest one of that name
    return plain


def menu_of(world: World, view: View) -> dict[str, tuple[int, ...]]:
    """What makes sense now, in a fixed order: turns, things to pick up, drop, doors, toggle, things to go to."""
    ways = find_ways(view)
    ahead = world.thing_ahead
    menu: dict[str, tuple[int, ...]] = {"turn left": (LEFT,), "turn right": (RIGHT,)}
    if ahead is None or ahead.passable:
        menu["move forward"] = (FORWARD,)
    if world.carrying is None:
        for seen in view.things:
            if seen.thing.kind != "door" and seen.cell in ways.facing:
                menu[f"pickup {seen.name}"] = (*ways.facing[seen.cell], PICKUP)
    elif ahead is None:
        menu["drop"] = (DROP,)
    for seen in view.things:
        if seen.thing.kind == "door":
            _add_door(menu, world, ways, seen)
    if ahead is not None and _can_toggle(world, ahead):
        menu["toggle"] = (TOGGLE,)
    for seen in view.things:
        if ways.facing.get(seen.cell):  # not what one faces already
            menu[f"go to {seen.name}"] = ways.facing[seen.cell]
    menu[CHECK] = ()
    return menu


def _add_door(menu: dict[str, tuple[int, ...]], world: World, ways: Ways, seen: Seen) -> None:
    if seen.thing.state == "open":
        if seen.cell in ways.onto:
            menu[f"go through {seen.name}"] = ways.onto[seen.cell]
    elif seen.cell in ways.facing and _can_toggle(world, seen.thing):
        menu[f"toggle and go through {seen.name}"] = (*ways.facing[seen.cell], TOGGLE, FORWARD)


def _can_toggle(world: World, thing: Thing) -> bool:
    return thing.kind == "box" or (thing.kind == "door" and (thing.state != "locked" or world.fits(thing)))


def describe(world: World, view: View) -> str:
    """What is in view, what is straight ahead, and what is held."""
    parts = []
    if view.things:
        parts.append("In front of you in this room, you can see several objects: ")
        parts += [f"There is a {seen.name} {_where(seen)}.  " for seen in view.things]
    else:
        parts.append("You cannot see any objects within sight. ")
    parts.append("The room has walls around you. ")
    barrier = view.barrier()
    if barrier is not None:
        parts.append(f"You are facing a {barrier[0]} {barrier[1]} steps away. ")
    held = world.carrying
    parts.append(f"You are carrying a {held.name}." if held else "You are not carrying anything.")
    return "".join(parts)


def _where(seen: Seen) -> str:
    if seen.side == 0:
        return f"right in front of you {seen.ahead} steps away"
    return (
        f"{seen.ahead} steps in front of you and {abs(seen.side)} steps to your {'right' if seen.side > 0 else 'left'}"
    )


def list_actions(menu: Menu) -> str:
    """The line under each description."""
    return f"Available actions: {json.dumps(list(menu))}"


def tell_actions(menu: Menu) -> str:
    """The answer to CHECK."""
    return f"You can take the following actions: {', '.join(menu)}"


def why_not(text: str, world: World, view: View) -> str:
    """Why `text`, which is neither primitive nor on the menu, cannot be done."""
    targeted = _TARGETED.fullmatch(text)
    if targeted is None or targeted[2] == "goal":
        return UNKNOWN
    verb, name = targeted[1], f"{targeted[2]} {targeted[3]}"
    seen = next((seen for seen in view.things if seen.name == name), None)
    if seen is None:
        return f"You cannot {verb} {name}, as there is no {name} in view{_doors_instead(name, view)}."
    if verb == "go to" and seen.thing is world.thing_ahead:
        return "No change in state."
    return f"You cannot {verb} {name}, as {_obstacle(verb, seen.thing, world)}."


def _doors_instead(name: str, view: View) -> str:
    """The doors of that color, where a door was called without its state or by another one."""
    called = _DOOR.fullmatch(name)
    doors = [seen for seen in view.things if seen.thing.kind == "door" and called and seen.thing.color == called[1]]
    if not doors or any(called and seen.thing.state == called[2] for seen in doors):
        return ""
    return f", but {' and '.join(f'a {seen.name}' for seen in doors)}"


def _obstacle(verb: str, thing: Thing, world: World) -> str:
    if verb == "pickup":
        if thing.kind == "door":
            return "a door cannot be carried"
        if world.carrying is not None:
            return "you are already carrying something"
    if verb in ("go through", "toggle and go through"):
        if thing.kind != "door":
            return "it is no door"
        if thing.state == "open" and verb == "toggle and go through":
            return "it is open already. You should go through it"
        if thing.state == "locked" and not world.fits(thing):
            return _lock(world)
        if thing.state != "open" and verb == "go through":
            return "it is closed. You should toggle it first"
    return "there is no path leading to it"


def _lock(world: World) -> str:
    if world.carrying is None or world.carrying.kind != "key":
        return "you are not carrying a key"
    return "the color of the key you are carrying does not match the color of door"
