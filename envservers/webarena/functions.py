"""The actions as functions to call; the text of each is an action of `language`'s grammar."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentenv.functions import function

ELEMENT = {"type": "integer", "minimum": 0, "description": "number of the element in the latest observation"}


FUNCTIONS: tuple[Mapping[str, Any], ...] = (
    function("click", "Click an element.", "click [{element}]", element=ELEMENT),
    function("hover", "Move the mouse over an element.", "hover [{element}]", element=ELEMENT),
    function(
        "type",
        "Put a text into a field, in place of what it holds.",
        "type [{element}] [{text}] [{press_enter}]",
        element=ELEMENT,
        text={"type": "string"},
        press_enter={"type": "integer", "enum": [0, 1], "description": "1: press Enter afterwards"},
    ),
    function(
        "select",
        "Choose an option of a list.",
        "select [{element}] [{option}]",
        element=ELEMENT,
        option={"type": "string", "minLength": 1, "description": "its text"},
    ),
    function(
        "press",
        "Press keys.",
        "press [{keys}]",
        keys={"type": "string", "minLength": 1, "description": "such as Enter or Control+a", "examples": ["Enter"]},
    ),
    function(
        "scroll",
        "See the next or the previous part of the page.",
        "scroll [{direction}]",
        direction={"type": "string", "enum": ["down", "up"]},
    ),
    function("new_tab", "Open a tab and go to it.", "new_tab"),
    function(
        "tab_focus",
        "Go to a tab.",
        "tab_focus [{tab}]",
        tab={"type": "integer", "minimum": 0, "description": "counted from 0"},
    ),
    function("close_tab", "Close the current tab.", "close_tab"),
    function(
        "goto",
        "Open an address.",
        "goto [{url}]",
        url={"type": "string", "minLength": 1, "examples": ["http://shop.test"]},
    ),
    function("go_back", "Go back in the history of the tab.", "go_back"),
    function("go_forward", "Go forward in the history of the tab.", "go_forward"),
    function(
        "stop",
        "You are done; this ends the episode.",
        "stop [{answer}]",
        answer={"type": "string", "description": "empty where none was asked for; N/A when the task cannot be done"},
    ),
)
"""For the card."""
