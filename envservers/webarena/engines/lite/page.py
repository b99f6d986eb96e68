"""A loaded page: its document, what has the focus, and which part is on the screen."""

from __future__ import annotations

from dataclasses import dataclass

from envservers.webarena.engines.lite.document import Document, Element, parse
from envservers.webarena.engines.lite.dom import build_dom, mark_dom
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
    outside: bool
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
        self.outside = False
        """Whether Tab went past the last stop: then not even the page has the focus."""
        self.top = 0
        """Line at the top of the screen."""
        self.alert = ""
        """The browser's own message about a field that is not valid."""
        self._laid_out = False
        self._wanted = ""
        """Key of the element that shall be on the screen at the next look."""

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
        return build(self.document, focus=self.focus, alert=self.alert, outside=self.outside)

    def view(self, *, full: bool) -> Node:
        """The tree; unless `full`, with what lies outside the screen marked."""
        root = self.tree()
        if not full:
            lines = _lines(root)
            self._reveal(lines)
            self._hold(lines)
            _mark(root, lines, self.top)
        return root

    def dom(self, root: Node, *, full: bool) -> Node:
        """The document of which `view` just gave the tree `root`; unless `full`, cut to the same screen."""
        document = build_dom(self.document)
        if not full:
            mark_dom(document, _lines(root), range(self.top, self.top + SCREEN_LINES))
        return document

    def scroll(self, *, down: bool) -> None:
        """A screen up or down."""
        lines = _lines(self.tree())
        self._reveal(lines)
        self.top += SCROLL_LINES if down else -SCROLL_LINES
        self._hold(lines)

    def show(self, element: Element) -> None:
        """Scroll so that an element is on the screen, as soon as somebody looks."""
        self._wanted = str(element.index)

    def _reveal(self, lines: _Lines) -> None:
        line = next((line for node, line in lines if node.key == self._wanted), None) if self._wanted else None
        self._wanted = ""
        if line is not None and not self.top <= line < self.top + SCREEN_LINES:
            self.top = max(line - SCREEN_LINES // 3, 0)

    def _hold(self, lines: _Lines) -> None:
        """Keep the screen within the page."""
        total = max(line for _, line in lines) + 1
        self.top = max(min(self.top, total - SCREEN_LINES), 0)

    def give_focus(self, element: Element | None) -> None:
        """Move the focus."""
        self.focus = element
        self.marked = self.outside = False
        if element is not None:
            self.start = element.index

    def leave(self) -> None:
        """Tab went past the last stop."""
        self.give_focus(None)
        self.outside = True

    def typed(self) -> Typed:
        """The user's part of the state."""
        controls = tuple(
            (element.index, element.value, element.checked, element.opened)
            for element in self.document.elements
            if element.tag in ("input", "textarea", "option", "details")
        )
        return Typed(
            focus=-1 if self.focus is None else self.focus.index, top=self.top, outside=self.outside, controls=controls
        )

    def restore(self, typed: Typed) -> None:
        """Make the user's part what it was."""
        elements = self.document.elements
        for index, value, checked, opened in typed.controls:
            element = elements[index]
            element.value, element.checked, element.opened = value, checked, opened
        self.top = typed.top
        self.give_focus(None if typed.focus < 0 else elements[typed.focus])
        self.outside = typed.outside
        self.changed()


def _prints(node: Node, above: Node) -> bool:
    """Whether a node is a line of its own, by and large as the dialects print it."""
    if node.role in _UNLISTED:
        return False
    if node.role == "StaticText":
        return node.name.strip() not in above.name
    return bool(node.name.strip()) or (bool(node.properties) and node.role not in ("listitem", "paragraph"))


_Lines = list[tuple[Node, int]]
"""Nodes in document order, each with the number of its line; -1 for what has none of its own."""


def _lines(root: Node) -> _Lines:
    found: _Lines = []
    line = 0
    pending = [(root, root)]
    while pending:
        node, above = pending.pop()
        printed = _prints(node, above)
        found.append((node, line if printed else -1))
        line += printed
        pending.extend([(child, node) for child in reversed(node.children)])
    return found


def _mark(root: Node, lines: _Lines, top: int) -> None:
    """Set `visible`: of what is on the screen and of what holds it. Options go by the head of their list."""
    place = {id(node): line for node, line in lines}

    def mark(node: Node) -> bool:
        shown = top <= place[id(node)] < top + SCREEN_LINES
        if node.role == "combobox":
            for below in node.walk():
                below.visible = shown
            return shown
        below_shown = [mark(child) for child in node.children]
        node.visible = shown or any(below_shown)
        for child in node.children:
            if shown and place[id(child)] < 0 and not child.children:
                child.visible = True
        return node.visible

    mark(root)
    root.visible = True
