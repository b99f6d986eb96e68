"""The accessibility tree of a page, node for node as Chromium gives it.

Left out is what no dialect prints: ignored nodes and blank generic boxes (their children move up), inline text boxes,
list markers, line breaks, and properties without a plain value or that hold addresses.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from envservers.webarena.engines.engine import UnsupportedMarkup
from envservers.webarena.engines.lite import validation
from envservers.webarena.engines.lite.document import (
    Document,
    Element,
    Text,
    control_of,
    disabled,
)
from envservers.webarena.engines.lite.names import BULLET, Names, option_label
from envservers.webarena.engines.lite.styles import BLOCK
from envservers.webarena.engines.lite.vocabulary import HEADINGS, TEXT_TYPES
from envservers.webarena.nodes import Node

Properties = tuple[tuple[str, Any], ...]

_FOCUSABLE = ("focusable", True)
_FOCUSED = ("focused", True)
_VALID = ("invalid", "false")
_DISABLED = ("disabled", True)
_EDITABLE = ("editable", "plaintext")
_SETTABLE = ("settable", True)
_ROOT: Properties = (_FOCUSABLE, _FOCUSED)
_LINK: Properties = (_FOCUSABLE,)
_MESSAGE: Properties = (("live", "assertive"), ("atomic", True), ("relevant", "additions"))
_HEADER_CELL: Properties = (("readonly", False), ("required", False))
_EDITABLE_TEXT: Properties = (_EDITABLE,)

_ROLES = {
    "nav": "navigation",
    "main": "main",
    "article": "article",
    "p": "paragraph",
    "ul": "list",
    "ol": "list",
    "dl": "DescriptionList",
    "dt": "term",
    "dd": "definition",
    "form": "form",
    "fieldset": "group",
    "legend": "Legend",
    "details": "group",
    "strong": "strong",
    "em": "emphasis",
    "time": "time",
    "code": "code",
    "blockquote": "blockquote",
    "caption": "caption",
    "label": "LabelText",
}

_LIVE: dict[str, Properties] = {
    "alert": (("live", "assertive"), ("atomic", True), ("relevant", "additions text")),
    "status": (("live", "polite"), ("atomic", True), ("relevant", "additions text")),
    "dialog": (("modal", False),),
}
_ARIA_ROLES = {
    "img": "image",
    "alert": "alert",
    "status": "status",
    "search": "search",
    "group": "group",
    "dialog": "dialog",
}

_TELLING = frozenset({"id", "title", "aria-describedby"})
"""Attributes that keep an empty paragraph in the tree."""

_NAMING = frozenset({"aria-label", "aria-labelledby", "title", "aria-describedby"})

_SECTIONING = frozenset({"article", "complementary", "main", "navigation", "region", "section"})
_ENOUGH_ROWS = 20


def build(document: Document, *, focus: Element | None = None, alert: str = "", outside: bool = False) -> Node:
    """The tree; the layout must be up to date.

    `alert` is the browser's own message about a field, `outside` says that the focus has left the page.
    """
    root = _Builder(document, focus, alert).root()
    if outside:
        root.properties = (_FOCUSABLE,)
    return root


class _Builder:
    def __init__(self, document: Document, focus: Element | None, alert: str) -> None:
        self.document = document
        self.focus = focus
        self.alert = alert
        self.names = Names(document)
        self.level = 0
        """Depth of lists."""
        self.around: list[str] = []
        """Roles of landmarks and sections around, for headers, footers and asides."""
        self.special: dict[str, Callable[[Element, list[Node]], None]] = {
            "a": self._link,
            "button": self._button,
            "input": self._input,
            "textarea": self._text_field,
            "select": self._select,
            "img": self._image,
            "svg": self._drawing,
            "table": self._table,
            "li": self._item,
            "summary": self._summary,
            "label": self._label,
            "hr": self._rule,
            "br": self._nothing,
            "header": self._header,
            "footer": self._footer,
            "aside": self._aside,
            "section": self._section,
            "p": self._paragraph,
            **dict.fromkeys(HEADINGS, self._heading),
        }

    def root(self) -> Node:
        node = Node(key="0", role="RootWebArea", name=self.document.title, properties=_ROOT)
        if self.alert:
            alert = Node(key="", role="alert", name=self.alert, properties=_MESSAGE, addressable=False)
            node.children.append(alert)
        self._children(self.document.body, node.children)
        return node

    def _children(self, element: Element, into: list[Node]) -> None:
        for kid in element.kids:
            if isinstance(kid, Text):
                if kid.shown and kid.shown != " ":
                    into.append(Node(key=str(element.index), role="StaticText", name=kid.shown))
            else:
                self._element(kid, into)

    def _element(self, element: Element, into: list[Node]) -> None:
        attrs = element.attrs
        if not element.display:
            return
        if "aria-hidden" in attrs:
            self._check_unreachable(element)
            return
        role = attrs.get("role")
        if role is not None:
            self._by_aria(element, role, into)
            return
        special = self.special.get(element.tag)
        if special is not None:
            special(element, into)
            return
        plain = _ROLES.get(element.tag)
        if plain is None:
            self._generic(element, into)
        else:
            self._plain(element, plain, into)

    def _node(self, element: Element, role: str, name: str, properties: Properties, into: list[Node]) -> Node:
        described = element.attrs.get("aria-describedby")
        if described:
            properties = (*properties, ("describedby", described))
        if self.alert and element is self.focus and ("invalid", "true") in properties:
            properties = (*properties, ("errormessage", ""))
        node = Node(key=str(element.index), role=role, name=name, properties=properties)
        into.append(node)
        return node

    def _named(self, element: Element) -> str:
        """Name of an element that only its author can name."""
        attrs = element.attrs
        if "aria-label" in attrs or "aria-labelledby" in attrs or "title" in attrs:
            return self.names.of(element)
        return ""

    def _plain(self, element: Element, role: str, into: list[Node]) -> None:
        tag = element.tag
        name = self.names.of(element) if tag in ("fieldset", "dt") else self._named(element)
        node = self._node(element, role, name, (_VALID,) if tag == "fieldset" else (), into)
        if tag in ("ul", "ol"):
            self.level += 1
            self._children(element, node.children)
            self.level -= 1
        elif role in _SECTIONING:
            self._inside(element, role, node.children)
        else:
            self._children(element, node.children)

    def _inside(self, element: Element, role: str, into: list[Node]) -> None:
        self.around.append(role)
        self._children(element, into)
        self.around.pop()

    def _generic(self, element: Element, into: list[Node]) -> None:
        name = self._named(element)
        if not name and "aria-describedby" not in element.attrs:
            self._children(element, into)
        else:
            self._children(element, self._node(element, "generic", name, (), into).children)

    def _by_aria(self, element: Element, role: str, into: list[Node]) -> None:
        if role == "none":
            if element.tag != "img":
                self._children(element, into)
            return
        node = self._node(element, _ARIA_ROLES[role], self._named(element), _LIVE.get(role, ()), into)
        if element.tag != "svg":
            self._children(element, node.children)

    def _paragraph(self, element: Element, into: list[Node]) -> None:
        holds = any(kid.shown if isinstance(kid, Text) else kid.display for kid in element.kids)
        if (holds and element.display == BLOCK) or not _TELLING.isdisjoint(element.attrs):
            self._children(element, self._node(element, "paragraph", "", (), into).children)
        else:
            self._children(element, into)

    def _section(self, element: Element, into: list[Node]) -> None:
        name = self._named(element)
        if any(element.attrs.get(source) for source in ("aria-label", "aria-labelledby", "title")):
            self._inside(element, "region", self._node(element, "region", name, (), into).children)
        else:
            self._inside(element, "section", into)

    def _header(self, element: Element, into: list[Node]) -> None:
        role = "sectionheader" if _SECTIONING.intersection(self.around) else "banner"
        self._children(element, self._node(element, role, self._named(element), (), into).children)

    def _footer(self, element: Element, into: list[Node]) -> None:
        role = "sectionfooter" if _SECTIONING.intersection(self.around) else "contentinfo"
        self._children(element, self._node(element, role, self._named(element), (), into).children)

    def _aside(self, element: Element, into: list[Node]) -> None:
        name = self._named(element)
        if not name and (_SECTIONING - {"main"}).intersection(self.around):
            self._inside(element, "section", into)
        else:
            node = self._node(element, "complementary", name, (), into)
            self._inside(element, "complementary", node.children)

    def _heading(self, element: Element, into: list[Node]) -> None:
        node = self._node(element, "heading", self.names.of(element), (("level", int(element.tag[1])),), into)
        self._children(element, node.children)

    def _item(self, element: Element, into: list[Node]) -> None:
        node = self._node(element, "listitem", self._named(element), (("level", max(self.level, 1)),), into)
        self._children(element, node.children)

    def _rule(self, element: Element, into: list[Node]) -> None:
        self._node(element, "separator", self._named(element), (_SETTABLE, ("orientation", "horizontal")), into)

    def _nothing(self, element: Element, into: list[Node]) -> None:
        pass

    def _image(self, element: Element, into: list[Node]) -> None:
        attrs = element.attrs
        if attrs.get("alt") == "" and not attrs.get("title") and "aria-label" not in attrs:
            return
        self._node(element, "image", self.names.of(element), (), into)

    def _drawing(self, element: Element, into: list[Node]) -> None:
        self._node(element, "image", self.names.of(element), (), into)

    def _label(self, element: Element, into: list[Node]) -> None:
        control = control_of(self.document, element)
        if control is not None and _redundant(element, control):
            # Its text is the control's name already; the control is all that is left.
            for kid in element.kids:
                if isinstance(kid, Element):
                    self._element(kid, into)
            return
        self._children(element, self._node(element, "LabelText", self._named(element), (), into).children)

    def _link(self, element: Element, into: list[Node]) -> None:
        attrs = element.attrs
        if "href" not in attrs:
            self._generic(element, into)
            return
        properties = (_FOCUSABLE, _FOCUSED) if element is self.focus else _LINK
        if "aria-expanded" in attrs:
            properties = (*properties, ("expanded", attrs["aria-expanded"] == "true"))
        node = self._node(element, "link", self.names.of(element), properties, into)
        self._children(element, node.children)

    def _states(self, element: Element, valid: tuple[str, str] = _VALID) -> Properties:
        """What every form control starts with."""
        if disabled(element):
            return (_DISABLED, valid)
        return (valid, _FOCUSABLE, _FOCUSED) if element is self.focus else (valid, _FOCUSABLE)

    def _button(self, element: Element, into: list[Node]) -> None:
        properties = self._states(element)
        if "aria-expanded" in element.attrs:
            properties = (*properties, ("expanded", element.attrs["aria-expanded"] == "true"))
        node = self._node(element, "button", self.names.of(element), properties, into)
        self._children(element, node.children)

    def _input(self, element: Element, into: list[Node]) -> None:
        kind = element.kind
        if kind in TEXT_TYPES:
            self._text_field(element, into)
        elif kind == "submit":
            node = self._node(element, "button", self.names.of(element), self._states(element), into)
            label = element.attrs.get("value", "Submit")
            if label.strip():
                node.children.append(Node(key=node.key, role="StaticText", name=label))
        else:
            valid = ("invalid", "true") if validation.shown_invalid(self.document, element) else _VALID
            properties = (*self._states(element, valid), ("checked", "true" if element.checked else "false"))
            self._node(element, kind, self.names.of(element), properties, into)

    def _text_field(self, element: Element, into: list[Node]) -> None:
        attrs, kind = element.attrs, element.kind if element.tag == "input" else "textarea"
        off = disabled(element)
        fixed = "readonly" in attrs
        valid = ("invalid", "true") if validation.shown_invalid(self.document, element) else _VALID
        properties: list[tuple[str, Any]] = [*self._states(element, valid), _EDITABLE]
        if not off and not fixed:
            properties.append(_SETTABLE)
        required = ("required", "required" in attrs)
        role = "textbox"
        if kind == "number":
            role = "spinbutton"
            properties += (required, *_range(element))
        elif kind == "search":
            role = "searchbox"
        else:
            properties += (("multiline", kind == "textarea"), ("readonly", fixed and not off), required)
        node = self._node(element, role, self.names.of(element), tuple(properties), into)
        value = BULLET * len(element.value) if kind == "password" else element.value
        for line in value.split("\n"):
            if line:
                below = () if off or fixed else _EDITABLE_TEXT
                node.children.append(Node(key=node.key, role="StaticText", name=line, properties=below))

    def _select(self, element: Element, into: list[Node]) -> None:
        valid = ("invalid", "true") if validation.shown_invalid(self.document, element) else _VALID
        properties = (*self._states(element, valid), ("hasPopup", "menu"), ("expanded", False))
        node = self._node(element, "combobox", self.names.of(element), properties, into)
        popup = Node(key=node.key, role="MenuListPopup", addressable=False)
        node.children.append(popup)
        off = disabled(element)
        for kid in element.kids:
            if not isinstance(kid, Element) or "hidden" in kid.attrs:
                continue
            if kid.tag == "option":
                popup.children.append(self._option(kid, off))
            else:
                group = Node(key=str(kid.index), role="group", name=kid.attrs.get("label", ""))
                group.children = [self._option(option, off) for option in kid.kids if isinstance(option, Element)]
                popup.children.append(group)

    def _option(self, option: Element, off: bool) -> Node:
        properties: Properties
        if "disabled" in option.attrs:
            properties = (_DISABLED,)
        elif off:
            properties = (_DISABLED, _FOCUSABLE)
        else:
            properties = (_FOCUSABLE, ("selected", option.checked))
        return Node(key=str(option.index), role="option", name=option_label(option), properties=properties)

    def _summary(self, element: Element, into: list[Node]) -> None:
        details = element.parent
        assert details is not None
        properties = (_FOCUSABLE, _FOCUSED) if element is self.focus else (_FOCUSABLE,)
        properties = (*properties, ("expanded", details.opened))
        node = self._node(element, "DisclosureTriangle", self.names.of(element), properties, into)
        self._children(element, node.children)

    def _table(self, element: Element, into: list[Node]) -> None:
        if not _holds_data(element):
            raise UnsupportedMarkup(
                "the role of a <table> without <th>, <caption>, <thead> or <tfoot> depends on its looks"
            )
        node = self._node(element, "table", self.names.of(element), (), into)
        parts = [kid for kid in element.kids if isinstance(kid, Element) and kid.display]
        for tag in ("caption", "thead", "tbody", "tr", "tfoot"):
            for part in parts:
                if part.tag != tag:
                    continue
                if tag == "caption":
                    self._element(part, node.children)
                elif tag == "tr":
                    self._row(part, node.children)
                elif tag == "tbody" and not _NAMING.intersection(part.attrs):
                    self._rows(part, node.children)
                else:
                    self._rows(part, self._node(part, "rowgroup", self._named(part), (), node.children).children)

    def _rows(self, section: Element, into: list[Node]) -> None:
        for row in section.kids:
            if isinstance(row, Element) and row.display:
                self._row(row, into)

    def _row(self, row: Element, into: list[Node]) -> None:
        node = self._node(row, "row", self._named(row), (), into)
        cells = [kid for kid in row.kids if isinstance(kid, Element)]
        for place, cell in enumerate(cells):
            if not cell.display:
                continue
            if cell.tag == "td":
                inner = self._node(cell, "cell", self.names.of(cell), (), node.children)
            else:
                inner = self._node(cell, _header_role(cells, place), self.names.of(cell), _HEADER_CELL, node.children)
            self._children(cell, inner.children)

    def _check_unreachable(self, element: Element) -> None:
        for below in element.elements():
            if below.tag in ("a", "button", "input", "select", "textarea", "summary"):
                raise UnsupportedMarkup(f"<{below.tag}> inside aria-hidden")


def _redundant(label: Element, control: Element) -> bool:
    """Whether Chromium leaves a label out because the checkbox or radio button says it already."""
    if control.tag != "input" or control.kind not in ("checkbox", "radio") or not control.display:
        return False
    if "aria-label" in control.attrs or "aria-labelledby" in control.attrs:
        return False
    if "title" in label.attrs:
        return False
    inside = [kid for kid in label.kids if isinstance(kid, Element)]
    return not inside or (len(inside) == 1 and inside[0] is control)


def _range(element: Element) -> Properties:
    def number(name: str) -> float:
        value = float(element.attrs.get(name) or 0)
        return int(value) if value.is_integer() else value

    return (("valuemin", number("min")), ("valuemax", number("max")), ("valuetext", element.value))


def _holds_data(table: Element) -> bool:
    parts = [kid for kid in table.kids if isinstance(kid, Element)]
    if any(part.tag in ("caption", "thead", "tfoot") for part in parts):
        return True
    rows = [part for part in parts if part.tag == "tr"]
    rows += [row for part in parts if part.tag == "tbody" for row in part.kids if isinstance(row, Element)]
    cells = [cell for row in rows for cell in row.kids if isinstance(cell, Element)]
    if len(rows) >= _ENOUGH_ROWS:
        return True
    return len(cells) > 1 and any(cell.tag == "th" or "scope" in cell.attrs for cell in cells)


def _header_role(cells: list[Element], place: int) -> str:
    """Whether a header cell heads its column or its row."""
    scope = cells[place].attrs.get("scope", "").lower()
    if scope in ("row", "rowgroup"):
        return "rowheader"
    if scope in ("col", "colgroup"):
        return "columnheader"
    before = cells[place - 1] if place else None
    after = cells[place + 1] if place + 1 < len(cells) else None
    if before is None and after is None:
        return "columnheader"
    if before is not None and after is not None and before.tag == after.tag == "th":
        return "columnheader"
    ends = (before, after, cells[0], cells[-1], *cells[1:2], *cells[-2:-1])
    return "rowheader" if any(_filled(cell) for cell in ends) else "columnheader"


def _filled(cell: Element | None) -> bool:
    return cell is not None and cell.tag == "td" and bool(cell.kids)
