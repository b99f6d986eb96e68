"""A document as nodes for the html dialect."""

from __future__ import annotations

from collections.abc import Iterable

from envservers.webarena.engines.dom import CLOSED, TEXT, element_node, text_node
from envservers.webarena.engines.lite.document import Document, Element, Text
from envservers.webarena.engines.lite.forms import value_sent
from envservers.webarena.nodes import Node

_CASED = {"viewbox": "viewBox"}
"""Attributes of drawings, which HTML reads in small letters and browsers know in their own."""


def build_dom(document: Document) -> Node:
    """The root element with all below it; the layout must be up to date."""
    return _element(document.root, drawn=True)


def mark_dom(root: Node, lines: Iterable[tuple[Node, int]], screen: range) -> None:
    """Set `visible` by the lines of the accessibility tree: a node is where its own line is, or the line before it."""
    elements: dict[str, int] = {}
    texts: dict[str, list[int]] = {}
    for node, line in lines:
        if node.role == "StaticText":
            texts.setdefault(node.key, []).append(line)
        elif line >= 0:
            elements.setdefault(node.key, line)
    at = 0

    def mark(node: Node) -> bool:
        nonlocal at
        line = -1
        if node.role != TEXT:
            line = elements.get(node.key, -1)
        elif node.name.strip() and texts.get(node.key):
            line = texts[node.key].pop(0)
        at = line if line >= 0 else at
        here = at in screen and (line >= 0 or not node.children)
        below = [mark(child) for child in node.children]
        node.visible = here or any(below)
        return node.visible

    mark(root)


def _element(element: Element, *, drawn: bool) -> Node:
    shown = drawn and (bool(element.display) or element.tag in ("html", "option", "optgroup"))
    chosen = element.opened if element.tag == "details" else element.checked
    attributes = {_CASED.get(name, name): value for name, value in element.attrs.items()}
    text = value_sent(element) if element.tag in ("input", "textarea") else ""
    node = element_node(str(element.index), element.tag, attributes, text=text, chosen=chosen, drawn=shown)
    if element.tag not in CLOSED:
        node.children = [_kid(kid, element, shown) for kid in element.kids]
    return node


def _kid(kid: Element | Text, parent: Element, shown: bool) -> Node:
    if isinstance(kid, Text):
        return text_node(str(parent.index), kid.data, drawn=shown and (bool(kid.shown) or parent.tag == "option"))
    return _element(kid, drawn=shown)
