"""The document as lines of tags, the original's second dialect. Prints the view's `dom`."""

from __future__ import annotations

from envservers.webarena.language.lines import Line
from envservers.webarena.nodes import Node, View

TEXT = "#text"
UNPRINTED = frozenset({"head", "script", "style", "template", "noscript", "#comment"})
"""With all that is below them."""


def lines(view: View) -> list[Line]:
    """Elements with attributes and texts that are not blank, in document order."""
    if view.dom is None:
        raise ValueError("the html dialect needs a view with its dom")
    found: list[Line] = []
    stack = [(view.dom, 0, True)]
    while stack:
        node, depth, seen = stack.pop()
        text = _text(node) if seen and not node.ignored else ""
        if text:
            found.append(Line(node, depth, text))
        below = depth + 1 if text else depth
        stack += [(c, below, _seen(c, node, seen)) for c in reversed(node.children) if c.role.lower() not in UNPRINTED]
    return found


def _seen(node: Node, parent: Node, parent_seen: bool) -> bool:
    """Options go with their list; a text of theirs with them."""
    roles = (node.role.lower(), parent.role.lower())
    return parent_seen if "option" in roles or "optgroup" in roles else node.visible


def _text(node: Node) -> str:
    """An element's tag and attributes, or a text; empty when it has neither."""
    words = " ".join(node.name.split())
    if node.role == TEXT:
        return f"<{TEXT}> {words}" if words else ""
    attributes = "".join(f' {name}="{_value(value)}"' for name, value in node.properties)
    return f"<{node.role.upper()}{attributes}> {words}".rstrip() if attributes or words else ""


def _value(value: object) -> str:
    return " ".join(str(value).split()).replace('"', "&quot;")
