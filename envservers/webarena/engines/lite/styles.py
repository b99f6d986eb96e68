"""How elements are laid out: by tag as browsers do, else as the page's style sheets say.

Only `display` matters to the tree: it decides where names get spaces and which white space is drawn. Of a style sheet,
everything else is passed over; what would change the tree in ways that are not modelled is refused.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from envservers.webarena.engines.engine import UnsupportedMarkup

if TYPE_CHECKING:
    from envservers.webarena.engines.lite.document import Element

NONE, INLINE, BLOCK, ATOM, FLEX, INLINE_FLEX = "none", "inline", "block", "atom", "flex", "inline-flex"
"""ATOM is inline outside, closed inside: inline-block, images, controls. FLEX, as grid, makes its children blocks."""

TAGS: dict[str, str] = {
    **dict.fromkeys(("a", "span", "strong", "em", "small", "time", "code", "label", "br"), INLINE),
    **dict.fromkeys(("img", "svg", "input", "textarea", "select", "button"), ATOM),
}
"""Every other tag is a block."""

_VALUES = {
    "block": BLOCK,
    "list-item": BLOCK,
    "flow-root": BLOCK,
    "inline": INLINE,
    "inline-block": ATOM,
    "flex": FLEX,
    "grid": FLEX,
    "inline-flex": INLINE_FLEX,
    "inline-grid": INLINE_FLEX,
    "none": NONE,
}
_TABLE_PARTS = frozenset({"table", "caption", "thead", "tbody", "tfoot", "tr", "td", "th"})
_FIXED = frozenset(
    {"br", "svg", "img", *_TABLE_PARTS, "select", "textarea", "input", "button", "summary", "legend", "fieldset"}
)
"""Tags whose display the engine knows; a rule must not change it."""

WIDTH = 1280
"""CSS pixels of the window, for media queries."""

_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_WIDTH_QUERY = re.compile(r"\((min|max)-width:\s*(\d+)px\)")
_COMPOUND = re.compile(r"(?:[a-z][a-z0-9]*|\*)?(?:\.[\w-]+|#[\w-]+|\[[\w-]+(?:=\"?[\w-]+\"?)?\])*")
_PART = re.compile(r"[.#]?[\w-]+|\*|\[[^\]]+\]")
_TELLING = re.compile(
    r"(?:^|;)\s*(display|position|float|white-space|visibility|content|text-transform)\s*:\s*([^;!]+)(!important)?"
)
_HARMLESS = {
    "position": frozenset({"static", "relative", "sticky"}),
    "float": frozenset({"none"}),
    "white-space": frozenset({"normal", "nowrap"}),
    "visibility": frozenset({"visible"}),
    "content": frozenset({'""', "''", "normal", "none"}),
    "text-transform": frozenset({"none"}),
}


@dataclass(frozen=True, slots=True)
class _Compound:
    """`a.button[hidden]`: what one element must be."""

    tag: str
    classes: frozenset[str]
    ids: frozenset[str]
    attributes: tuple[tuple[str, str | None], ...]

    def fits(self, element: Element) -> bool:
        attrs = element.attrs
        if self.tag and element.tag != self.tag:
            return False
        if self.classes and not self.classes.issubset(attrs.get("class", "").split()):
            return False
        if self.ids and attrs.get("id") not in self.ids:
            return False
        return all(name in attrs and value in (None, attrs[name]) for name, value in self.attributes)


@dataclass(frozen=True, slots=True)
class _Rule:
    """One selector with a display."""

    chain: tuple[tuple[str, _Compound], ...]
    """From the right: how the element to the left relates to it (space or `>`), and what the element is."""
    display: str
    weight: tuple[int, int, int, int]
    """Specificity, then place."""

    def fits(self, element: Element) -> bool:
        return self.chain[0][1].fits(element) and _above(self.chain, 1, element)


def _above(chain: Sequence[tuple[str, _Compound]], place: int, element: Element) -> bool:
    if place == len(chain):
        return True
    relation, compound = chain[place]
    at = element.parent
    while at is not None:
        if compound.fits(at) and _above(chain, place + 1, at):
            return True
        if relation == ">":
            return False
        at = at.parent
    return False


class Styles:
    """The display rules of a page's style sheets."""

    def __init__(self, rules: Sequence[_Rule] = ()) -> None:
        self._by_class: dict[str, list[_Rule]] = {}
        self._by_tag: dict[str, list[_Rule]] = {}
        for rule in rules:
            last = rule.chain[0][1]
            if last.classes:
                self._by_class.setdefault(min(last.classes), []).append(rule)
            else:
                self._by_tag.setdefault(last.tag, []).append(rule)
        self._any = self._by_tag.pop("", [])

    def display_of(self, element: Element) -> str:
        """How an element is laid out where its parent is no flex container."""
        tag, attrs = element.tag, element.attrs
        rules: list[_Rule] = []
        if self._by_class and "class" in attrs:
            for name in attrs["class"].split():
                if name in self._by_class:
                    rules += self._by_class[name]
        if tag in self._by_tag:
            rules += self._by_tag[tag]
        best = None
        for rule in rules:
            if rule.fits(element) and (best is None or rule.weight > best.weight):
                best = rule
        if best is None:
            return TAGS.get(tag, BLOCK)
        if tag in _FIXED and best.display not in (NONE, TAGS.get(tag, BLOCK)):
            raise UnsupportedMarkup(f"a style sheet gives <{tag}> the display {best.display}")
        return best.display


PLAIN = Styles()
"""Without any style sheet."""


@lru_cache(maxsize=64)
def read_styles(sheets: tuple[str, ...]) -> Styles:
    """The display rules of style sheets in their order; UnsupportedMarkup for rules that change the tree otherwise."""
    rules: list[_Rule] = []
    for sheet in sheets:
        _read(_COMMENT.sub("", sheet), rules)
    return Styles(rules)


def _read(text: str, rules: list[_Rule]) -> None:
    place = 0
    while (brace := text.find("{", place)) >= 0:
        head = text[place:brace].strip()
        head = head.rsplit(";", 1)[-1].strip()  # past @import and the like
        end = _closing(text, brace)
        body = text[brace + 1 : end]
        if head.startswith("@media"):
            if _holds(head):
                _read(body, rules)
        elif head.startswith("@supports") or head.startswith("@layer"):
            raise UnsupportedMarkup(f"style sheet: {head[:40]}")
        elif not head.startswith("@"):
            _rule(head, body, rules)
        place = end + 1


def _closing(text: str, brace: int) -> int:
    depth = 0
    for place in range(brace, len(text)):
        if text[place] == "{":
            depth += 1
        elif text[place] == "}":
            depth -= 1
            if not depth:
                return place
    raise UnsupportedMarkup("style sheet: a brace is not closed")


def _holds(head: str) -> bool:
    query = head.removeprefix("@media").strip()
    if "print" in query or "prefers-" in query:
        return False
    bounds = _WIDTH_QUERY.findall(query)
    if not bounds or _WIDTH_QUERY.sub("", query).replace("and", "").replace("screen", "").strip():
        raise UnsupportedMarkup(f"style sheet: media query {query[:60]!r}")
    return all(int(width) <= WIDTH if bound == "min" else int(width) >= WIDTH for bound, width in bounds)


def _rule(head: str, body: str, rules: list[_Rule]) -> None:
    display = ""
    for name, value, important in _TELLING.findall(body):
        value = value.strip().lower()
        if name == "display":
            if value not in _VALUES or important:
                raise UnsupportedMarkup(f"style sheet: {head[:60]}: display {value}")
            display = _VALUES[value]
        elif value not in _HARMLESS[name] and not (name == "position" and _generated(head)):
            raise UnsupportedMarkup(f"style sheet: {head[:60]}: {name} {value}")
    if not display:
        return
    for selector in head.split(","):
        selector = selector.strip()
        if selector == "[hidden]":
            continue
        if _generated(selector):
            continue
        if ":" in selector:
            raise UnsupportedMarkup(f"style sheet: display for {selector!r}")
        rules.append(_selector(selector, display, len(rules)))


def _generated(selector: str) -> bool:
    return all("::before" in part or "::after" in part for part in selector.split(","))


def _selector(text: str, display: str, place: int) -> _Rule:
    tokens = text.replace(">", " > ").split()
    chain: list[tuple[str, _Compound]] = []
    relation = " "
    for token in reversed(tokens):
        if token == ">":
            relation = ">"
            continue
        if not _COMPOUND.fullmatch(token):
            raise UnsupportedMarkup(f"style sheet: selector {text!r}")
        chain.append((relation, _compound(token)))
        relation = " "
    parts = [compound for _, compound in chain]
    weight = (
        sum(len(part.ids) for part in parts),
        sum(len(part.classes) + len(part.attributes) for part in parts),
        sum(bool(part.tag) for part in parts),
        place,
    )
    if not parts[0].tag and not parts[0].classes:
        raise UnsupportedMarkup(f"style sheet: display for {text!r}")
    return _Rule(tuple(chain), display, weight)


def _compound(token: str) -> _Compound:
    tag, classes, ids, attributes = "", set(), set(), []
    for part in _PART.findall(token):
        if part[0] == ".":
            classes.add(part[1:])
        elif part[0] == "#":
            ids.add(part[1:])
        elif part[0] == "[":
            name, _, value = part[1:-1].partition("=")
            attributes.append((name, value.strip('"') if value else None))
        elif part != "*":
            tag = part
    return _Compound(tag, frozenset(classes), frozenset(ids), tuple(attributes))
