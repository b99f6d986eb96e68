"""Nodes of the document for the html dialect, by rules that all engines share.

What the user made of a control is in its attributes: what it holds in `value`, what is chosen in `checked` and
`selected`. What is not drawn is ignored, and drawings have no inside.
"""

from __future__ import annotations

from collections.abc import Mapping

from envservers.webarena.engines import refusals
from envservers.webarena.nodes import Node

TEXT = "#text"
BULLET = "•"
CLOSED = frozenset({"svg", "textarea"})
"""Elements whose inside is no part of what is printed."""
_CHOSEN = {"input": "checked", "option": "selected", "details": "open"}
_FIXED = frozenset({"checkbox", "radio", "hidden", "submit", "button", "reset", "image"})
"""Types of input whose value is the page's, not the user's."""


def element_node(
    key: str, tag: str, attributes: Mapping[str, str], *, text: str = "", chosen: bool = False, drawn: bool
) -> Node:
    """An element without its children. `text` is what a text control holds now; `chosen` whether a checkbox, a radio
    button or an option is chosen, or details are open."""
    live, kind = dict(attributes), attributes.get("type", "text").lower()
    if tag == "input" and kind not in _FIXED:
        _set(live, "value", BULLET * len(text) if kind == "password" else text, keep=text != "")
    elif tag in _CHOSEN and (tag != "input" or kind in ("checkbox", "radio")):
        _set(live, _CHOSEN[tag], "", keep=chosen)
    name = text if tag == "textarea" else ""
    return Node(key=key, role=tag, name=name, properties=tuple(live.items()), ignored=not drawn)


def text_node(key: str, data: str, *, drawn: bool) -> Node:
    """A text between tags."""
    return Node(key=key, role=TEXT, name=data, ignored=not drawn)


def unreachable_dom(address: str) -> Node:
    """The document of `refusals.unreachable_page`."""
    text = Node(key="", role=TEXT, name=refusals.blocked(address), addressable=False)
    return Node(key="", role="html", children=[text])


def _set(attributes: dict[str, str], name: str, value: str, *, keep: bool) -> None:
    if keep:
        attributes[name] = value
    else:
        attributes.pop(name, None)
