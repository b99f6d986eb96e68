"""Accessible names as Chromium computes them, for the vocabulary."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from envservers.webarena.engines.engine import UnsupportedMarkup
from envservers.webarena.engines.lite.document import (
    BLANK,
    Document,
    Element,
    Text,
    caption_of,
    labelable,
    legend_of,
    options_of,
)
from envservers.webarena.engines.lite.styles import INLINE
from envservers.webarena.engines.lite.vocabulary import HEADINGS, NOT_NAMED, TEXT_TYPES

BULLET = "•"
MOST_PARTS = 100
"""Chromium stops reading a name after so many parts; no page comes near."""

_BLANKS = re.compile(r"[ \t\n\f\r]+")

NAMED_BY_CONTENT = frozenset({"a", "button", "summary", "td", "th", "dt", "option", *HEADINGS})
"""Tags whose own name is what they hold."""

_LENDS = NAMED_BY_CONTENT | frozenset(
    {
        *("span", "div", "p", "strong", "em", "small", "time", "code", "pre", "label", "legend", "caption"),
        *("ul", "ol", "li", "dl", "dd", "section", "footer", "details"),
    }
)
"""Tags whose content counts in the name of what is around them."""

_MUTE_ROLES = frozenset({"alert", "status", "img", "search", "group", "dialog"})
"""Roles whose content never counts in a name."""

_NAMELESS = NOT_NAMED | {"span", "div", "pre", "small", "time"}
"""Tags that a title describes and never names."""


class Names:
    """Names in one document, whose layout is up to date."""

    def __init__(self, document: Document) -> None:
        self.document = document

    def of(self, element: Element) -> str:
        """Name of an element."""
        text, _ = self._alternative(element, set(), inner=False, asked=False)
        return _simplified(text)

    def _alternative(self, element: Element, seen: set[int], *, inner: bool, asked: bool) -> tuple[str, bool]:
        """The text that stands for an element, and whether it is something else than its content.

        `inner`: as a part of another name. `asked`: below an element that aria-labelledby names.
        """
        index = element.index
        visited = index in seen
        if inner and not visited:
            value = self._value(element, seen)
            if value or element.tag == "select":
                return value, True
        seen.add(index)
        attrs = element.attrs
        if inner and not asked and _is_hidden(element):
            return "", True
        if not asked and not visited and attrs.get("aria-labelledby"):
            elements = [self.document.ids[name] for name in attrs["aria-labelledby"].split()]
            text = self._texts(elements, seen, asked=True)
            if text.strip(BLANK):
                return text, True
        label = attrs.get("aria-label", "")
        if label.strip(BLANK):
            return label, True
        text, known = self._native(element, seen)
        if text or known:
            return text, True
        if self._reads_content(element, inner=inner, asked=asked):
            text = self._content(element, seen, asked=asked)
            if text:
                return text, False
        title = attrs.get("title", "")
        if attrs.get("alt") == "":
            return "", False
        if title and (asked or not self._nameless(element)) and title.strip(BLANK) != self._shown(element).strip(BLANK):
            return title, True
        return "", False

    def _value(self, element: Element, seen: set[int]) -> str:
        tag = element.tag
        if tag == "textarea":
            return element.value
        if tag == "input" and element.kind in TEXT_TYPES:
            return BULLET * len(element.value) if element.kind == "password" else element.value
        if tag == "select":
            chosen = [o for o in options_of(element) if o.checked and o.index not in seen]
            seen.update(option.index for option in chosen)
            return " ".join(option_label(option) for option in chosen)
        return ""

    def _native(self, element: Element, seen: set[int]) -> tuple[str, bool]:
        """Text by the element's own markup, and whether that ends the search even when empty."""
        tag, attrs = element.tag, element.attrs
        if tag == "option":
            return option_label(element), False
        if tag == "optgroup":
            return attrs.get("label", ""), False
        if tag in ("input", "textarea", "select", "button") and labelable(element):
            labels = self.document.labels.get(element.index)
            if labels:
                fresh = any(label.index not in seen for label in labels)
                text = self._texts(labels, seen, asked=False).strip(BLANK)
                if fresh:
                    return text, True
                if _is_text_field(element):
                    return text, False
            if tag == "input" and element.kind == "submit":
                return attrs.get("value", ""), False
            if _is_text_field(element):
                return attrs.get("title", "") or attrs.get("placeholder", ""), False
        if tag == "img":
            return attrs.get("alt", ""), False
        if tag == "table":
            caption = caption_of(element)
            if caption is not None:
                return self._part(caption, seen, asked=False)[0], True
        if tag == "fieldset":
            legend = legend_of(element)
            if legend is not None and legend.index not in seen:
                return self._part(legend, seen, asked=False)[0], True
        return "", False

    def _texts(self, elements: Sequence[Element], seen: set[int], *, asked: bool) -> str:
        parts = [self._part(element, seen, asked=asked)[0] for element in elements]
        return " ".join(part for part in parts if part)

    def _part(self, element: Element, seen: set[int], *, asked: bool) -> tuple[str, bool]:
        if element.index in seen and not asked:
            return "", False
        return self._alternative(element, seen, inner=True, asked=asked)

    def _reads_content(self, element: Element, *, inner: bool, asked: bool) -> bool:
        tag = element.tag
        if tag in ("select", "textarea"):
            return False
        if tag == "input":
            return element.kind == "submit"
        if asked:
            return True
        if element.attrs.get("role", "none") in _MUTE_ROLES:
            return False
        if inner:
            return tag in _LENDS
        if tag == "a":
            return "href" in element.attrs
        return tag in NAMED_BY_CONTENT

    def _nameless(self, element: Element) -> bool:
        if element.tag == "a" and "href" not in element.attrs:
            return True
        return element.tag in _NAMELESS and element.attrs.get("role", "none") == "none"

    def _content(self, element: Element, seen: set[int], *, asked: bool) -> str:
        if element.tag == "input":
            return "" if "value" in element.attrs else "Submit"
        parts: list[str] = []
        before: Element | Text | None = None
        named_before = False
        end = ""
        drawn = bool(element.display)
        for kid in _parts(element) if drawn else element.kids:
            if isinstance(kid, Text):
                text, named = self._words(kid, drawn), False
                if not text:
                    continue
                seen.add(-kid.parent.index - len(seen) - 1)
            else:
                if _left_out(kid, drawn):
                    continue
                if kid.tag == "br":
                    text, named = "\n", False
                elif kid.attrs.get("role") == "none":
                    text, named = ("", False) if kid.tag == "img" else (self._content(kid, seen, asked=asked), False)
                else:
                    text, named = self._part(kid, seen, asked=asked)
            if len(seen) > MOST_PARTS:
                raise UnsupportedMarkup(f"the name of a <{element.tag}> has more than {MOST_PARTS} parts")
            if text:
                if (
                    before is not None
                    and end
                    and end not in BLANK
                    and text[0] not in BLANK
                    and (named or named_before or _apart(before, kid))
                ):
                    parts.append(" ")
                parts.append(text)
                end = text[-1]
                named_before = named
            before = kid
        return "".join(parts)

    def _words(self, text: Text, drawn: bool) -> str:
        return text.shown if drawn else text.data

    def _shown(self, element: Element) -> str:
        if element.tag == "select":
            return "\n".join(option_label(option) for option in options_of(element))
        return "".join(kid.shown if isinstance(kid, Text) else self._shown(kid) for kid in element.kids)


def _simplified(text: str) -> str:
    """White space collapsed; one space stays at either end that had any, as Chromium leaves it."""
    if not text:
        return ""
    before = " " if text[0] in BLANK else ""
    after = " " if text[-1] in BLANK else ""
    return before + _BLANKS.sub(" ", text).strip(" ") + after


def _parts(element: Element) -> Iterator[Element | Text]:
    """What the tree has below an element: plain spans are no part of it, their content is."""
    for kid in element.kids:
        if isinstance(kid, Element):
            if kid.display == INLINE and _is_plain(kid) and _dissolves(kid):
                yield from _parts(kid)
                continue
            if kid.tag == "img" and kid.attrs.get("alt") == "" and "title" not in kid.attrs and element.tag != "label":
                continue
        yield kid


_PLAIN = frozenset({"class", "lang", "datetime"})


def _is_plain(element: Element) -> bool:
    return not element.attrs or _PLAIN.issuperset(element.attrs)


def _dissolves(element: Element) -> bool:
    return element.tag == "span" or (element.tag == "small" and element.within("label") is None)


def _is_hidden(element: Element) -> bool:
    return "aria-hidden" in element.attrs or not (element.display or element.tag in ("option", "optgroup"))


def _left_out(kid: Element, drawn: bool) -> bool:
    if "aria-hidden" in kid.attrs or kid.tag in ("optgroup",):
        return True
    return drawn and not kid.display


def _apart(before: Element | Text, after: Element | Text) -> bool:
    """Whether two neighbours are laid out so that a reader hears a space between them."""
    for part in (before, after):
        if isinstance(part, Element) and (part.display != INLINE):
            return True
        if isinstance(part, Text) and not part.shown:
            return True
    return before.run != after.run


def _is_text_field(element: Element) -> bool:
    return element.tag == "textarea" or (element.tag == "input" and element.kind in TEXT_TYPES)


def option_label(option: Element) -> str:
    """What a select shows for an option."""
    return _BLANKS.sub(" ", option.text()).strip(" ")
