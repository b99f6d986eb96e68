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

    __slots__ = ("blank", "last", "run", "runs")

    def __init__(self, runs: count[int]) -> None:
        self.runs = runs
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
    _Layout(styles).block(document.body, BLOCK, _Line(count(1)), False)


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
            inner = _Line(line.runs)
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


def hide(element: Element) -> None:
    """Nothing below is drawn."""
    element.display = ""
    for kid in element.kids:
        if isinstance(kid, Text):
            kid.shown = ""
        else:
            hide(kid)
