"""Documents: text to a tree of elements, checked against the vocabulary."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import Any

from lxml import etree

from envservers.webarena.engines.engine import UnsupportedMarkup
from envservers.webarena.engines.lite import vocabulary as words

BLANK = " \t\n\f\r"


class Text:
    """A run of characters between tags."""

    __slots__ = ("data", "parent", "run", "shown")

    def __init__(self, data: str, parent: Element) -> None:
        self.data = data
        self.parent = parent
        self.shown = ""
        """What is drawn of it, white space collapsed; empty when nothing is."""
        self.run = 0
        """The stretch of inline content it is part of; see layout."""


class Element:
    """An element and, for controls, what the user made of it."""

    __slots__ = ("attrs", "checked", "display", "index", "kids", "opened", "parent", "run", "tag", "value")

    def __init__(self, tag: str, attrs: dict[str, str], parent: Element | None, index: int) -> None:
        self.tag = tag
        self.attrs = attrs
        self.parent = parent
        self.index = index
        """Position in the document; the node's key."""
        self.kids: list[Element | Text] = []
        self.value = ""
        """Text of a text control."""
        self.checked = False
        """Of a checkbox, a radio button or an option."""
        self.opened = False
        """Of details."""
        self.display = ""
        """How it is laid out, empty when it is not; see layout."""
        self.run = 0

    def elements(self) -> Iterator[Element]:
        """This element and all below it, in document order."""
        yield self
        for kid in self.kids:
            if isinstance(kid, Element):
                yield from kid.elements()

    def text(self) -> str:
        """All characters below it."""
        return "".join(kid.data if isinstance(kid, Text) else kid.text() for kid in self.kids)

    def within(self, *tags: str) -> Element | None:
        """The nearest ancestor of one of these tags."""
        at = self.parent
        while at is not None and at.tag not in tags:
            at = at.parent
        return at

    @property
    def kind(self) -> str:
        """Type of an input."""
        return self.attrs.get("type", "text")


class Document:
    """A parsed page."""

    def __init__(self, root: Element, elements: list[Element]) -> None:
        self.root = root
        self.elements = elements
        """Every element; an element's `index` is its place here."""
        self.ids: dict[str, Element] = {}
        for element in elements:
            if "id" in element.attrs:
                self.ids.setdefault(element.attrs["id"], element)
        self.head = next(kid for kid in root.kids if isinstance(kid, Element) and kid.tag == "head")
        self.body = next(kid for kid in root.kids if isinstance(kid, Element) and kid.tag == "body")
        self.labels = _labels(self)
        """Labels of each labelled control, by its index."""

    @property
    def title(self) -> str:
        """The tab's title."""
        for kid in self.head.kids:
            if isinstance(kid, Element) and kid.tag == "title":
                return " ".join(kid.text().split(None))
        return ""


def parse(source: str) -> Document:
    """Read a page; UnsupportedMarkup for whatever the vocabulary or its nesting does not allow."""
    source = source.replace("\r\n", "\n").replace("\r", "\n")
    builder = _Builder()
    parser = etree.HTMLParser(target=builder, remove_comments=True)
    try:
        elements = etree.fromstring(source, parser)
    except etree.XMLSyntaxError as error:
        raise UnsupportedMarkup(f"cannot be parsed: {error}") from error
    for entry in parser.error_log:
        raise UnsupportedMarkup(f"line {entry.line}: {entry.message}")
    if builder.closed != len(_CLOSING.findall(source)):
        raise UnsupportedMarkup("an element is not closed")
    document = Document(elements[0], elements)
    _check_ids(document)
    for element in elements:
        if element.tag in ("input", "textarea", "select", "details"):
            set_to_markup(element)
    settle_radios(elements)
    return document


def settle_radios(elements: Iterable[Element]) -> None:
    """Of radio buttons of one name in one form that the page's text checks, the last stays so."""
    last: dict[tuple[str, int], Element] = {}
    for element in elements:
        name = element.attrs.get("name")
        if name and element.checked and element.tag == "input" and element.kind == "radio":
            form = element.within("form")
            key = (name, -1 if form is None else form.index)
            if key in last:
                last[key].checked = False
            last[key] = element


def set_to_markup(element: Element) -> None:
    """Give a control the state that the page's text says."""
    attrs = element.attrs
    if element.tag == "details":
        element.opened = "open" in attrs
    elif element.tag == "textarea":
        element.value = element.text()
    elif element.tag == "input":
        element.value = attrs.get("value", "")
        element.checked = "checked" in attrs
        if element.kind == "number" and element.value and number_of(element.value) is None:
            element.value = ""
    elif element.tag == "select":
        options = options_of(element)
        chosen = [option for option in options if "selected" in option.attrs]
        free = [option for option in options if not option_disabled(option)]
        for option in options:
            option.checked = False
        for option in chosen[-1:] or free[:1]:
            option.checked = True


def number_of(text: str) -> Fraction | None:
    """The number that a number field's text stands for, None where it is none: as in browsers, within a double's range.

    So no exponent or row of digits that somebody types makes a number of millions of digits.
    """
    if not _NUMBER.fullmatch(text):
        return None
    near = float(text)
    if math.isinf(near):
        return None
    return Fraction(text) if near and len(text) <= LONGEST_NUMBER else Fraction(near)


_NUMBER = re.compile(r"-?(\d+(\.\d+)?|\.\d+)([eE][-+]?\d+)?", re.ASCII)
"""A floating-point number as HTML has it."""
LONGEST_NUMBER = 400
"""Characters of a number that are read exactly; a longer one is the double next to it."""


def options_of(select: Element) -> list[Element]:
    """Options of a select in order, those in groups too."""
    return [element for element in select.elements() if element.tag == "option"]


def option_disabled(option: Element) -> bool:
    """Whether it cannot be chosen."""
    return "disabled" in option.attrs


def disabled(element: Element) -> bool:
    """Whether a control is disabled, by itself or by a fieldset around it (whose legend stays free)."""
    if "disabled" in element.attrs:
        return True
    child, at = element, element.parent
    while at is not None:
        if at.tag == "fieldset" and "disabled" in at.attrs and not (child.tag == "legend" and child is _legend(at)):
            return True
        child, at = at, at.parent
    return False


def _legend(fieldset: Element) -> Element | None:
    return next((kid for kid in fieldset.kids if isinstance(kid, Element) and kid.tag == "legend"), None)


def legend_of(fieldset: Element) -> Element | None:
    """The legend that names a fieldset."""
    return _legend(fieldset)


def caption_of(table: Element) -> Element | None:
    """The caption of a table."""
    return next((kid for kid in table.kids if isinstance(kid, Element) and kid.tag == "caption"), None)


_CLOSING = re.compile(rf"</[a-zA-Z]|<(?!(?:{'|'.join(words.VOID)})\b)[a-z]+[^<>]*/>")
"""What closes an element, self-closing shapes too."""


class _Builder:
    """What lxml calls while it reads."""

    def __init__(self) -> None:
        self.elements: list[Element] = []
        self.closed = 0
        self._at: Element | None = None
        self._words: list[str] = []
        self._drawing = 0  # depth inside an svg, whose shapes are of no interest

    def start(self, tag: str, attrs: Any) -> None:
        if self._drawing:
            self._drawing += 1
            return
        if self._words:
            self._flush()
        if tag not in words.CONTENT and tag not in words.VOID and tag not in ("svg", "html"):
            raise UnsupportedMarkup(f"<{tag}> is not in the vocabulary")
        self._check_place(tag)
        element = Element(tag, dict(attrs), self._at, len(self.elements))
        _check_attributes(element)
        self.elements.append(element)
        if self._at is not None:
            self._at.kids.append(element)
        self._at = element
        if tag == "svg":
            self._drawing = 1

    def end(self, tag: str) -> None:
        if tag not in words.VOID:
            self.closed += 1
        if self._drawing:
            self._drawing -= 1
            if self._drawing:
                return
        if self._words:
            self._flush()
        assert self._at is not None
        self._at = self._at.parent

    def data(self, data: str) -> None:
        if not self._drawing:
            self._words.append(data)

    def close(self) -> list[Element]:
        return self.elements

    def _flush(self) -> None:
        data, at = "".join(self._words), self._at
        self._words.clear()
        if at is None:
            return
        if at.tag in ("textarea", "pre") and not at.kids and data.startswith("\n"):
            data = data[1:]
        if at.tag in words.WORDLESS and data.strip(BLANK):
            raise UnsupportedMarkup(f"text inside <{at.tag}>: {data.strip()[:40]!r}")
        if data:
            at.kids.append(Text(data, at))

    def _check_place(self, tag: str) -> None:
        at = self._at
        if at is None:
            return
        if tag not in words.CONTENT[at.tag]:
            raise UnsupportedMarkup(f"<{tag}> inside <{at.tag}>")
        if tag in words.NOT_INSIDE_ITSELF:
            above: Element | None = at
            while above is not None:
                if above.tag == tag:
                    raise UnsupportedMarkup(f"<{tag}> inside <{tag}>")
                above = above.parent


def _check_attributes(element: Element) -> None:
    tag, attrs = element.tag, element.attrs
    if not attrs or tag in ("meta", "link"):
        return
    for name in attrs:
        if name not in words.ATTRIBUTES and not (tag == "svg" and name in ("viewbox", "fill", "xmlns", "focusable")):
            raise UnsupportedMarkup(f"attribute {name} of <{tag}> is not in the vocabulary")
    role = attrs.get("role")
    if role is not None and tag not in words.ROLES.get(role, ()):
        raise UnsupportedMarkup(f"role={role} of <{tag}> is not in the vocabulary")
    if tag == "input" and element.kind not in words.INPUT_TYPES:
        raise UnsupportedMarkup(f"<input type={element.kind}> is not in the vocabulary")
    if tag == "svg" and attrs.get("aria-hidden") != "true" and not (role == "img" and attrs.get("aria-label")):
        raise UnsupportedMarkup("an <svg> is either aria-hidden or role=img with an aria-label")
    if attrs.get("aria-hidden", "true") != "true":
        raise UnsupportedMarkup("aria-hidden other than true")
    if "aria-expanded" in attrs and (tag not in words.EXPANDABLE or attrs["aria-expanded"] not in ("true", "false")):
        raise UnsupportedMarkup(f"aria-expanded={attrs['aria-expanded']} of <{tag}>")
    if role is None and tag in words.NOT_NAMED and ("aria-label" in attrs or "aria-labelledby" in attrs):
        raise UnsupportedMarkup(f"<{tag}> cannot be named by ARIA")
    if tag == "details" and "name" in attrs:
        raise UnsupportedMarkup("<details name> is not in the vocabulary")


def _check_ids(document: Document) -> None:
    for element in document.elements:
        for relation in ("aria-labelledby", "aria-describedby"):
            for name in element.attrs.get(relation, "").split():
                if name not in document.ids:
                    raise UnsupportedMarkup(f"{relation} of <{element.tag}>: no element has the id {name!r}")
        if element.tag == "details" and not any(
            isinstance(kid, Element) and kid.tag == "summary" for kid in element.kids
        ):
            raise UnsupportedMarkup("<details> without a <summary>")


def labelable(element: Element) -> bool:
    """Whether labels may name it."""
    return element.tag in words.CONTROLS and not (element.tag == "input" and element.kind == "hidden")


def control_of(document: Document, label: Element) -> Element | None:
    """What a label labels."""
    if "for" in label.attrs:
        control = document.ids.get(label.attrs["for"])
        return control if control is not None and labelable(control) else None
    return next((element for element in label.elements() if labelable(element)), None)


def _labels(document: Document) -> dict[int, list[Element]]:
    found: dict[int, list[Element]] = {}
    for element in document.elements:
        if element.tag == "label":
            control = control_of(document, element)
            if control is not None:
                found.setdefault(control.index, []).append(element)
    return found
