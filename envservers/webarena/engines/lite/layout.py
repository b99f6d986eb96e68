"""Which parts of a page are drawn, and the white space that is left of its text.

Inline content is laid out in runs: a run ends where a block begins or ends. White space collapses along a run, across
elements; it vanishes at the run's ends and around line breaks, and stays beside images and controls.
"""

from __future__ import annotations

import re
from itertools import count

from envservers.webarena.engines.lite.document import BLANK, Document, Element, Text
from envservers.webarena.engines.lite.styles import BLOCK, FLEX, INLINE, INLINE_FLEX, NONE, PLAIN, Styles
from envservers.webarena.engines.lite.vocabulary import WORDLESS

_BLANKS = re.compile(r"[ \t\n\f\r]+")


class _Line:
    """Where the inline content stands now."""

    __slots__ = ("blank", "last", "run", "runs", "spaces")

    def __init__(self, runs: count[int], spaces: list[Text]) -> None:
        self.runs = runs
        self.spaces = spaces
        """Texts that are white space alone and may be drawn."""
        self.run = next(runs)
        self.blank = True
        """Whether a further space would collapse."""
        self.last: Text | None = None
        """The text that ends in the last collapsible space."""

    def end(self) -> None:
        """Drop the space at the end of the line."""
        if self.last is not None:
            self.last.shown = self.last.shown[:-1]
            self.last = None
        self.blank = True

    def fresh(self) -> None:
        """End the run."""
        self.end()
        self.run = next(self.runs)

    def atom(self) -> None:
        """Something that is neither text nor space."""
        self.blank = False
        self.last = None

    def text(self, text: Text) -> None:
        """Text whose white space collapses."""
        shown = _BLANKS.sub(" ", text.data)
        if self.blank and shown[0] == " ":
            shown = shown[1:]
        text.shown = shown
        text.run = self.run
        if shown:
            self.blank = shown[-1] == " "
            self.last = text if self.blank else None


def lay_out(document: Document, styles: Styles = PLAIN) -> None:
    """Set `display`, `run` and `shown` throughout a document, by its present state."""
    for element in document.elements:
        element.display = ""
    spaces: list[Text] = []
    _Layout(styles).block(document.body, BLOCK, _Line(count(1), spaces), False)
    for space in spaces:
        space.shown = " " if _tells(space) else ""


class _Layout:
    def __init__(self, styles: Styles) -> None:
        self._display_of = styles.display_of

    def block(self, element: Element, display: str, line: _Line, kept: bool) -> None:
        line.fresh()
        element.display = display
        element.run = line.run
        self._content(element, line, kept or element.tag == "pre")
        line.fresh()

    def _content(self, element: Element, line: _Line, kept: bool) -> None:
        tag = element.tag
        flex = element.display in (FLEX, INLINE_FLEX)
        shut = tag == "details" and not element.opened
        silent = shut or tag in WORDLESS or tag == "textarea"
        for kid in element.kids:
            if isinstance(kid, Element):
                if shut and kid.tag != "summary":
                    hide(kid)
                else:
                    self._element(kid, line, kept, flex)
            elif silent:
                kid.shown = ""
            elif flex:
                _item_text(kid, line, kept)
            elif kept:
                kid.shown, kid.run = kid.data, line.run
                line.atom()
            else:
                line.text(kid)
                if kid.shown == " " or (not kid.shown and _has_place(kid)):
                    line.spaces.append(kid)

    def _element(self, kid: Element, line: _Line, kept: bool, item: bool) -> None:
        attrs, tag = kid.attrs, kid.tag
        if "hidden" in attrs or tag in ("option", "optgroup") or (tag == "input" and kid.kind == "hidden"):
            hide(kid)
            return
        display = self._display_of(kid)
        if tag == "br":
            kid.display, kid.run = INLINE, line.run
            line.end()
        elif display == NONE:
            hide(kid)
        elif item or display in (BLOCK, FLEX):
            self.block(kid, FLEX if display in (FLEX, INLINE_FLEX) else BLOCK, line, kept)
        elif display == INLINE:
            kid.display, kid.run = INLINE, line.run
            self._content(kid, line, kept)
        else:
            kid.display, kid.run = display, line.run
            inner = _Line(line.runs, line.spaces)
            self._content(kid, inner, kept)
            inner.end()
            line.atom()


def _item_text(text: Text, line: _Line, kept: bool) -> None:
    line.fresh()
    if kept and text.data.strip(BLANK):
        text.shown, text.run = text.data, line.run
    else:
        line.text(text)
    line.fresh()


def _has_place(space: Text) -> bool:
    """Whether white space between tags is laid out at all: after inline content of the same parent, not after text."""
    if space.data.strip(BLANK):
        return False
    kids = space.parent.kids
    for before in reversed(kids[: kids.index(space)]):
        if isinstance(before, Text):
            return False
        if before.display:
            return before.display not in (BLOCK, FLEX)
    return space.parent.display == INLINE


def _tells(space: Text) -> bool:
    """Whether a lone space separates what a reader would else hear as one; the tree has no others."""
    before, after = _next_to(space, -1), _next_to(space, 1)
    if before is None or after is None or _separates(before, -1, 0) or _separates(after, 1, 0):
        return False
    box = _box(space)
    return not any(isinstance(near, Text) and _box(near) is not box for near in (before, after))


def _next_to(node: Element | Text, way: int) -> Element | Text | None:
    """The neighbour in the document, that of an ancestor when there is none."""
    at: Element | Text = node
    while at.parent is not None:
        kids = at.parent.kids
        place = kids.index(at) + way
        if 0 <= place < len(kids):
            return kids[place]
        at = at.parent
    return None


_DEEPEST = 3


def _separates(node: Element | Text, way: int, depth: int) -> bool:
    """Whether a reader hears a break on the near side of a neighbour anyhow; `way` is where it lies."""
    if isinstance(node, Text):
        if not node.data.strip(BLANK) or not node.shown:
            return True
        if depth > _DEEPEST:
            return False
        return node.shown[0 if way > 0 else -1] in BLANK
    if not node.display:
        return True
    if depth > _DEEPEST:
        return False
    if node.tag == "br":
        return True
    if node.tag == "img":
        return False
    if node.display != INLINE:
        return True
    kids = [kid for kid in node.kids if isinstance(kid, Text) or kid.display]
    if kids:
        return _separates(kids[0 if way > 0 else -1], way, depth + 1)
    near = _next_to(node, way)
    return near is not None and _separates(near, way, depth + 1)


def _box(node: Text) -> Element:
    at = node.parent
    while at.display == INLINE and at.parent is not None:
        at = at.parent
    return at


def hide(element: Element) -> None:
    """Nothing below is drawn."""
    element.display = ""
    for kid in element.kids:
        if isinstance(kid, Text):
            kid.shown = ""
        else:
            hide(kid)
