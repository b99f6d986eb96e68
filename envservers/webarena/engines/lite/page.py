"""A loaded page: its document, what has the focus, and which part is on the screen."""

from __future__ import annotations

from dataclasses import dataclass

from envservers.webarena.engines.lite.document import Document, Element, parse
from envservers.webarena.engines.lite.layout import lay_out
from envservers.webarena.engines.lite.styles import PLAIN, Styles
from envservers.webarena.engines.lite.tree import build
from envservers.webarena.nodes import Node

SCREEN_LINES = 60
"""Lines of the tree that are visible at once in the viewport view."""
SCROLL_LINES = 50
"""Lines that one scroll moves; fewer than a screen, so that each screen repeats the end of the one before."""

_UNLISTED = frozenset({"MenuListPopup", "option"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Typed:
    """What a user made of a page, as plain data."""

    focus: int
    """Index of the focused element, -1 without."""
    top: int
    controls: tuple[tuple[int, str, bool, bool], ...]
    """Index, text, checked and opened of what can change."""


class Page:
    """One document of one tab."""

    def __init__(self, url: str, source: str, styles: Styles = PLAIN, *, document: Document | None = None) -> None:
        self.url = url
        self.source = source
        self.styles = styles
        self.document = parse(source) if document is None else document
        self.focus: Element | None = None
        self.start = 0
        """Index of the element from which Tab goes on."""
        self.marked = False
        """Whether all text of the focused field is selected."""
        self.top = 0
        """Line at the top of the screen."""
        self.alert = ""
        """The browser's own message about a field that is not valid."""
        self._laid_out = False

    @property
    def title(self) -> str:
        """Of the tab."""
        return self.document.title

    def element(self, key: str) -> Element | None:
        """The element of a node's key."""
        if not key.isdecimal() or int(key) >= len(self.document.elements):
            return None
        return self.document.elements[int(key)]

    def ready(self) -> None:
        """Bring the layout up to date."""
        if not self._laid_out:
            lay_out(self.document, self.styles)
            self._laid_out = True

    def changed(self) -> None:
        """Something opened or closed: the layout is out of date."""
        self._laid_out = False

    def tree(self) -> Node:
        """The accessibility tree now."""
        self.ready()
        return build(self.document, focus=self.focus, alert=self.alert)

    def view(self, *, full: bool) -> Node:
        """The tree; unless `full`, with what lies outside the screen marked."""
        root = self.tree()
        if not full:
            total = _number(root)
            self.top = max(min(self.top, total - SCREEN_LINES), 0)
            _mark(root, self.top)
        return root

    def scroll(self, *, down: bool) -> None:
        """A screen up or down."""
        total = _number(self.tree())
        wanted = self.top + (SCROLL_LINES if down else -SCROLL_LINES)
        self.top = max(min(wanted, total - SCREEN_LINES), 0)

    def show(self, element: Element) -> None:
        """Scroll so that an element is on the screen."""
        root = self.tree()
        _number(root)
        key = str(element.index)
        line = next((node_line for node, node_line in _lines(root) if node.key == key), None)
        if line is not None and not self.top <= line < self.top + SCREEN_LINES:
            self.top = max(line - SCREEN_LINES // 3, 0)

    def give_focus(self, element: Element | None) -> None:
        """Move the focus."""
        self.focus = element
        self.marked = False
        if element is not None:
            self.start = element.index

    def typed(self) -> Typed:
        """The user's part of the state."""
        controls = tuple(
            (element.index, element.value, element.checked, element.opened)
            for element in self.document.elements
            if element.tag in ("input", "textarea", "option", "details")
        )
        return Typed(focus=-1 if self.focus is None else self.focus.index, top=self.top, controls=controls)

    def restore(self, typed: Typed) -> None:
        """Make the user's part what it was."""
        elements = self.document.elements
        for index, value, checked, opened in typed.controls:
            element = elements[index]
            element.value, element.checked, element.opened = value, checked, opened
        self.top = typed.top
        self.give_focus(None if typed.focus < 0 else elements[typed.focus])
        self.changed()


def _prints(node: Node, above: Node) -> bool:
    """Whether a node is a line of its own, by and large as the dialects print it."""
    if node.role in _UNLISTED:
        return False
    if node.role == "StaticText":
        return node.name.strip() not in above.name
    return bool(node.name.strip()) or (bool(node.properties) and node.role not in ("listitem", "paragraph"))


def _lines(root: Node) -> list[tuple[Node, int]]:
    found: list[tuple[Node, int]] = []
    line = 0
    pending = [(root, root)]
    while pending:
        node, above = pending.pop()
        found.append((node, line))
        line += _prints(node, above)
        pending.extend((child, node) for child in reversed(node.children))
    return found


def _number(root: Node) -> int:
    """How many lines a tree has."""
    return sum(_prints(node, above) for node, above in _pairs(root))


def _pairs(root: Node) -> list[tuple[Node, Node]]:
    found, pending = [], [(root, root)]
    while pending:
        node, above = pending.pop()
        found.append((node, above))
        pending.extend((child, node) for child in node.children)
    return found


def _mark(root: Node, top: int) -> None:
    """Set `visible`: a leaf by its line, anything else when something below it is visible."""
    place = {id(node): line for node, line in _lines(root)}

    def mark(node: Node) -> bool:
        shown = top <= place[id(node)] < top + SCREEN_LINES
        for child in node.children:
            if node.role in ("combobox", "MenuListPopup") or (node.role == "group" and child.role == "option"):
                continue
            shown = mark(child) or shown
        if node.role == "combobox":
            for below in node.walk():
                below.visible = shown
        node.visible = shown
        return shown

    mark(root)
    root.visible = True
