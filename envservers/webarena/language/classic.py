"""The original's accessibility text, line by line, from the tree of a present-day Chromium.

Against the original: numbers run from 1 in every observation, so the text of a line is compared with earlier lines
without their numbers; and what Chromium has added or renamed since is taken back.
"""

from __future__ import annotations

from typing import Any

from envservers.webarena.language.lines import Line
from envservers.webarena.nodes import Node, View

POPUP = "MenuListPopup"
"""Stands between a closed list and its options; neither it nor they have a place on the page."""
UNPRINTED = frozenset({"InlineTextBox", "ListMarker", "LineBreak"})
"""With all that is below them."""
RENAMED = {"image": "img"}
BLANK = frozenset(
    {
        "generic",
        "img",
        "list",
        "strong",
        "paragraph",
        "banner",
        "navigation",
        "Section",
        "LabelText",
        "Legend",
        "listitem",
    }
)
"""Roles that are not printed without a name and without properties."""
SILENT = frozenset({"focusable", "editable", "readonly", "level", "settable", "multiline", "invalid", "url"})
"""Properties that are not printed."""
LOOKED_BACK = 3
"""Printed lines before a text that make it superfluous when one of them contains it."""


def lines(view: View) -> list[Line]:
    """The printed nodes in document order."""
    found: list[Line] = []
    stack = [(view.root, 0, True, False)]
    while stack:
        node, depth, seen, folded = stack.pop()
        text = _text(node) if node is view.root or (seen and not node.ignored) else ""
        if text and not _said_before(node, found):
            found.append(Line(node, depth, text))
        below = depth + 1 if text else depth
        for child in reversed(node.children):
            if child.role not in UNPRINTED:
                within = folded or child.role == POPUP  # options go with their list, whatever the cut says of them
                stack.append((child, below, seen if within else child.visible, within))
    return found


def _text(node: Node) -> str:
    """A node's line; empty when it has none."""
    role = RENAMED.get(node.role, node.role)
    said = "".join(
        [f" {name}: {_value(value)}" for name, value in node.properties if _is_said(role, name, value)]
        if node.properties
        else ()
    )
    if not node.name.strip() and ((role in BLANK and not said) or role == "listitem"):
        return ""
    return f"{role} {node.name!r}{said}"


def _is_said(role: str, name: str, value: Any) -> bool:
    if name in SILENT or not isinstance(value, str | int | float):
        return False
    return not (role == "columnheader" and name == "required" and value is False)


def _value(value: Any) -> str:
    """On one line whatever it holds."""
    text = str(value)
    return text if text.isprintable() else repr(text)


def _said_before(node: Node, printed: list[Line]) -> bool:
    """Whether a text adds nothing: it is empty, or one of the lines just before contains it."""
    if node.role != "StaticText":
        return False
    text = repr(node.name)[1:-1]
    return not text or any(text in line.text for line in printed[-LOOKED_BACK:])
