"""What an agent reads when an act cannot be done, and the page that stands for one that could not be opened.

Every engine says the same words, so that a record does not tell them apart.
"""

from __future__ import annotations

from collections.abc import Sequence

from envservers.webarena.nodes import Node

GONE = "the element is no longer on the page"
DISABLED = "the element is disabled"
NO_TEXT = "the element takes no text"
READ_ONLY = "the element is read-only"
NO_OPTIONS = "the element has no options to select"
NO_BOX = "the element has no place on the page to point at"
NO_BACK = "there is no page to go back to"
NO_FORWARD = "there is no page to go forward to"
UNREACHABLE = "This page cannot be opened"


def covered(what: str) -> str:
    """Something lies on top: `button "Close"`."""
    return f"the element is covered by {what}"


def no_option(wanted: str, options: Sequence[str]) -> str:
    """A select without that option; the first twenty are named."""
    shown = ", ".join(repr(option) for option in options[:20])
    return f"no option {wanted!r}; there are: {shown}{', ...' if len(options) > 20 else ''}"


def blocked(address: str) -> str:
    """An address outside the sites of the task."""
    return f"blocked: {address[:200]} is not on a site of this task"


def no_tab(number: int, count: int) -> str:
    """tab_focus out of range."""
    return f"there is no tab {number}; tabs are 0 to {count - 1}"


def unknown_keys(keys: str) -> str:
    """press with keys that no keyboard has."""
    return f"unknown keys {keys[:60]!r}"


def unreachable_page(address: str) -> Node:
    """The tree shown for a link or redirect that led out of the sites; `address` is where it was shown to lead."""
    text = Node(key="", role="StaticText", name=blocked(address), addressable=False)
    return Node(key="", role="RootWebArea", name=UNREACHABLE, properties=(("focused", True),), children=[text])
