"""The actions as functions to call, and how a call reads as the text that the simulator knows.

A call becomes its name and its argument: `connect(objects="battery anode to red wire terminal 1")` is
`connect battery anode to red wire terminal 1`. A name of two words has a line between them, which is taken out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from agentenv.functions import function
from envservers.command import bare

LONGEST_TEXT = 500
"""Characters of an action that the simulator is given; no action of its own is nearly as long."""

ROWS: tuple[tuple[str, str, str, str], ...] = (
    # name, argument, what it is, what the function does
    ("open", "object", "a door or a container", "Open it."),
    ("close", "object", "a door or a container", "Close it."),
    ("activate", "object", "a device", "Turn it on."),
    ("deactivate", "object", "a device", "Turn it off."),
    ("connect", "objects", "`A to B`, two terminals or components", "Connect two electrical components."),
    ("disconnect", "object", "an electrical component", "Take off what it is connected to."),
    ("use", "objects", "`A on B`, a tool or instrument and what it is for", "Use a tool or an instrument on a thing."),
    ("look_around", "", "", "Describe the place where you are."),
    ("look_at", "object", "anything in sight", "Describe it."),
    ("examine", "object", "anything in sight", "The same as look_at."),
    ("look_in", "object", "a container", "Describe what it holds."),
    ("read", "object", "a book, a note or a recipe", "Read it."),
    ("move", "objects", "`A to B`, a thing and a container", "Move a thing into a container."),
    ("pick_up", "object", "a thing in sight", "Move it into your inventory."),
    ("put_down", "object", "a thing in your inventory", "Drop it here."),
    ("pour", "objects", "`A in B`, a container or its content, and another container", "Pour a liquid."),
    ("dunk", "objects", "`A in B`, a container and a liquid", "Dunk a container into a liquid."),
    ("mix", "object", "a container", "Mix what it holds by chemistry."),
    ("go_to", "place", "a neighbouring place, its door open", "Go there."),
    ("eat", "object", "food", "Eat it."),
    ("flush", "object", "a toilet", "Flush it."),
    ("focus_on", "object", "what the task is about", "Say which thing is the answer. A wrong one fails the task."),
    ("wait", "", "", "Let ten steps of time pass."),
    ("wait1", "", "", "Let one step of time pass."),
    ("choose", "number", "of the action that you mean", "Answer the question which of several actions is meant."),
    ("inventory", "", "", "List what you carry."),
    ("task", "", "", "Repeat the task."),
    ("reset_task", "", "", "Forget what was focused on and what progress was made; the world stays as it is."),
)

NAMES = frozenset(row[0] for row in ROWS)


def _function(name: str, argument: str, what: str, about: str) -> Mapping[str, Any]:
    kind = {"type": "integer", "minimum": 0} if argument == "number" else {"type": "string"}
    arguments = {argument: {**kind, "description": what}} if argument else {}
    return function(name, about, _text(name, argument), **arguments)


def _text(name: str, argument: str) -> str:
    if name == "choose":
        return "{number}"
    return name.replace("_", " ") + (f" {{{argument}}}" if argument else "")


FUNCTIONS: tuple[Mapping[str, Any], ...] = tuple(_function(*row) for row in ROWS)
"""For the card."""


def spoken(text: str) -> str:
    """An action, or a function's name and argument, as the simulator's text on one line."""
    line = bare(" ".join(text.encode("utf-8", "replace").decode().split())[:LONGEST_TEXT])
    name, _, rest = line.partition(" ")
    if name.lower() not in NAMES:
        return line
    if name.lower() == "choose" and re.fullmatch(r"[0-9]+", rest):
        return rest
    return f"{name.replace('_', ' ')} {rest}".rstrip()
