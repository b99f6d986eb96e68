"""What the browser itself says about a field that keeps its form from being sent."""

from __future__ import annotations

import math
from fractions import Fraction

from envservers.webarena.engines.lite.document import Document, Element, number_of
from envservers.webarena.engines.lite.validation import missing


def message(document: Document, element: Element) -> str:
    """The message about a control that is not valid, as the tree has it.

    The title of a pattern comes after it; inputs have a space there otherwise.
    """
    if not missing(document, element) and element.kind not in ("email", "number"):
        title = element.attrs.get("title", "")
        return f"{_PATTERN} {title}" if title else _PATTERN
    sentence = _sentence(document, element)
    return sentence if element.tag == "select" else f"{sentence} "


_PATTERN = "Please match the requested format."


def _sentence(document: Document, element: Element) -> str:
    if missing(document, element):
        if element.tag == "select":
            return "Please select an item in the list."
        if element.tag == "input" and element.kind == "checkbox":
            return "Please check this box if you want to proceed."
        if element.tag == "input" and element.kind == "radio":
            return "Please select one of these options."
        return "Please fill out this field."
    if element.kind == "email":
        return _email(element.value.strip())
    return _number(element)


def _email(value: str) -> str:
    if "@" not in value:
        return f"Please include an '@' in the email address. '{value}' is missing an '@'."
    before, _, after = value.partition("@")
    if not before:
        return f"Please enter a part followed by '@'. '{value}' is incomplete."
    if not after:
        return f"Please enter a part following '@'. '{value}' is incomplete."
    for part, where in ((before, "followed by"), (after, "following")):
        for letter in part:
            if not (letter.isascii() and (letter.isalnum() or letter in ".!#$%&'*+/=?^_`{|}~-")):
                return f"A part {where} '@' should not contain the symbol '{letter}'."
    if ".." in after or after.startswith(".") or after.endswith("."):
        return f"'.' is used at a wrong position in '{after}'."
    return "Please enter an email address."


def _number(element: Element) -> str:
    value = number_of(element.value)
    if value is None:
        return "Please enter a number."
    low, high, step = (element.attrs.get(name) or "" for name in ("min", "max", "step"))
    if low and value < Fraction(low):
        return f"Value must be greater than or equal to {low}."
    if high and value > Fraction(high):
        return f"Value must be less than or equal to {high}."
    base, size = Fraction(low or element.attrs.get("value") or 0), Fraction(step or 1)
    under = base + math.floor((value - base) / size) * size
    nearest = [number for number in (under, under + size) if not high or number <= Fraction(high)]
    if len(nearest) == 1:
        return f"Please enter a valid value. The nearest valid value is {plain(nearest[0])}."
    return f"Please enter a valid value. The two nearest valid values are {plain(nearest[0])} and {plain(nearest[1])}."


def plain(number: Fraction) -> str:
    """A number as a number field shows it."""
    return str(number.numerator) if number.denominator == 1 else f"{float(number):.12g}"
