"""The words of the action language: verbs, the form of each, and the reading of numbers and keys."""

from __future__ import annotations

from collections.abc import Mapping

from envservers.webarena.act import Act, Verb

LONGEST = 20_000
"""Characters of an action; a longer text names none."""
NO_SUCH_NUMBER = 10**9
"""Stands for every number that has more digits: no element and no tab has it."""

FORMS: Mapping[Verb, str] = {
    Verb.CLICK: "click [id]",
    Verb.HOVER: "hover [id]",
    Verb.TYPE: "type [id] [text] [0|1]",
    Verb.SELECT: "select [id] [option]",
    Verb.PRESS: "press [keys]",
    Verb.SCROLL: "scroll [up|down]",
    Verb.NEW_TAB: "new_tab",
    Verb.TAB_FOCUS: "tab_focus [n]",
    Verb.CLOSE_TAB: "close_tab",
    Verb.GOTO: "goto [url]",
    Verb.GO_BACK: "go_back",
    Verb.GO_FORWARD: "go_forward",
    Verb.STOP: "stop [answer]",
}
BARE = frozenset({Verb.NEW_TAB, Verb.CLOSE_TAB, Verb.GO_BACK, Verb.GO_FORWARD})
"""Verbs without an argument."""

_NAMED_KEYS = (
    *("Backquote", "Minus", "Equal", "Backslash", "Backspace", "Tab", "Delete", "Escape", "Enter", "Insert"),
    *("Home", "End", "PageUp", "PageDown", "ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight"),
    *(f"F{place}" for place in range(1, 13)),
)
KEYS: Mapping[str, str] = {**{key.lower(): key for key in _NAMED_KEYS}, "meta": "Control"}
"""Keys by their names in lower case. Meta is Control, as it is wherever the browser does not run on macOS."""
MORE_KEYS: Mapping[str, str] = {
    "control": "Control",
    "ctrl": "Control",
    "cmd": "Control",
    "command": "Control",
    "shift": "Shift",
    "alt": "Alt",
    "option": "Alt",
    "esc": "Escape",
    "return": "Enter",
    "del": "Delete",
    "space": "Space",
    "up": "ArrowUp",
    "down": "ArrowDown",
    "left": "ArrowLeft",
    "right": "ArrowRight",
}
"""What else the lenient parser takes for a key."""


def number(digits: str) -> int:
    """Of a run of digits, whatever its length."""
    digits = digits.lstrip("0")
    return int(digits or "0") if len(digits) < 10 else NO_SUCH_NUMBER


def keys(text: str, names: Mapping[str, str] = KEYS) -> str:
    """A combination such as `meta+a` with its keys as a browser calls them; what is not known stays."""
    return "+".join(names.get(key.lower(), key) for key in text.split("+"))


def none(error: str) -> Act:
    """The act of a text that names no action."""
    return Act(verb=Verb.NONE, error=error)


def shown(text: str, most: int = 80) -> str:
    """A text of anybody's inside a sentence: cut, and quoted so that it stays one line and can be encoded."""
    return repr(text if len(text) <= most else text[:most] + "...")
