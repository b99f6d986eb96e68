"""What an agent can do in a browser, as data. Parsers make acts out of text, engines carry them out."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Verb(StrEnum):
    """The verbs of the action language; NONE is a text that names no action."""

    NONE = "none"
    CLICK = "click"
    HOVER = "hover"
    TYPE = "type"
    SELECT = "select"
    PRESS = "press"
    SCROLL = "scroll"
    NEW_TAB = "new_tab"
    TAB_FOCUS = "tab_focus"
    CLOSE_TAB = "close_tab"
    GOTO = "goto"
    GO_BACK = "go_back"
    GO_FORWARD = "go_forward"
    STOP = "stop"


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """One action; only what its verb uses is set."""

    verb: Verb
    element: int = 0
    """click, hover, type, select: the number in front of the line in the observation."""
    text: str = ""
    """type: the text; select: the option's name; press: keys such as `Control+a`; goto: the URL; stop: the answer."""
    enter: bool = True
    """type: whether Enter follows."""
    down: bool = True
    """scroll: down, else up."""
    tab: int = 0
    """tab_focus: from 0."""
    error: str = ""
    """none: what was wrong with the text, one line."""
