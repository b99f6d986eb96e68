"""Which controls hold what their attributes forbid, as browsers judge it."""

from __future__ import annotations

import re
from fractions import Fraction

from envservers.webarena.engines.lite.document import Document, Element, disabled, number_of, options_of

_EMAIL = re.compile(
    r"[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?"
    r"(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*"
)


def invalid(document: Document, element: Element) -> bool:
    """Whether it keeps its form from being sent."""
    if not _judged(element):
        return False
    return missing(document, element) or _wrong(element)


def shown_invalid(document: Document, element: Element) -> bool:
    """Whether the tree calls it invalid: as above, but an empty required text is not yet wrong."""
    if not _judged(element):
        return False
    if element.tag == "select" or (element.tag == "input" and element.kind in ("checkbox", "radio")):
        return missing(document, element)
    return _wrong(element)


def _judged(element: Element) -> bool:
    if element.tag not in ("input", "textarea", "select") or disabled(element):
        return False
    if element.tag == "input" and element.kind in ("hidden", "submit"):
        return False
    return element.tag == "select" or "readonly" not in element.attrs


def missing(document: Document, element: Element) -> bool:
    """Whether a control that must be filled is not."""
    required = "required" in element.attrs
    if element.tag == "select":
        return required and not any(option_value(option) for option in options_of(element) if option.checked)
    if element.tag == "input" and element.kind == "checkbox":
        return required and not element.checked
    if element.tag == "input" and element.kind == "radio":
        if not element.attrs.get("name"):
            return False
        group = radio_group(document, element)
        return any("required" in radio.attrs for radio in group) and not any(radio.checked for radio in group)
    return required and not element.value


def _wrong(element: Element) -> bool:
    value = element.value
    if element.tag != "input" or not value:
        return False
    kind = element.kind
    if kind == "email":
        value = value.strip()
        if not _EMAIL.fullmatch(value):
            return True
    if kind == "number":
        return _number_wrong(element)
    pattern = element.attrs.get("pattern")
    return pattern is not None and not re.fullmatch(pattern, value)


def _number_wrong(element: Element) -> bool:
    value = number_of(element.value)
    if value is None:
        return True
    low, high, step = (element.attrs.get(name) or "" for name in ("min", "max", "step"))
    if low and value < Fraction(low):
        return True
    if high and value > Fraction(high):
        return True
    if step == "any":
        return False
    base = Fraction(low or element.attrs.get("value") or 0)
    return (value - base) % Fraction(step or 1) != 0


def radio_group(document: Document, radio: Element) -> list[Element]:
    """Radio buttons of which one can be on: of one name in one form."""
    name, form = radio.attrs.get("name", ""), radio.within("form")
    if not name:
        return [radio]
    return [
        element
        for element in document.elements
        if element.tag == "input"
        and element.kind == "radio"
        and element.attrs.get("name") == name
        and element.within("form") is form
    ]


def option_value(option: Element) -> str:
    """What an option sends."""
    value = option.attrs.get("value")
    return re.sub(r"[ \t\n\f\r]+", " ", option.text()).strip(" ") if value is None else value
