"""Numbers as texts show them and as answers give them: reading, writing, finding. Values are exact fractions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction

MAX_TEXT = 200
"""Characters of an answer that are looked at."""
MAX_DIGITS = 30

WORDS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
"""Of 1 to 12."""
_COUNTS = {
    **{word: number for number, word in enumerate(WORDS, start=1)},
    **{"twice": 2, "double": 2, "doubling": 2, "half": 2, "pairs": 2, "pair": 2, "second": 2, "dozen": 12},
}
_FOUND = re.compile(rf"[0-9][0-9,]*(?:\.[0-9]+)?|\b(?:{'|'.join(_COUNTS)})\b", re.IGNORECASE)

_SPACES = re.compile("(?<=[0-9])[\u00a0\u2009\u202f](?=[0-9]{3})")
_AROUND = " \t\n\"'“”‘’✅✔✓☑\ufe0f"
"""Quotes and check marks around an answer."""
_SIGNS = str.maketrans({"−": "-", "–": "-", "\u2044": "/", "\u00a0": " ", "\u2009": " ", "\u202f": " "})
_TEX = (
    (re.compile(r"\\(?:text|mathrm|mathbf|textbf)\s*\{([^{}]*)\}"), r" \1 "),
    (re.compile(r"\\[dt]?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}"), r" \1/\2 "),
    (re.compile(r"\\[dt]?frac\s*([0-9])\s*([0-9])"), r" \1/\2 "),
    (re.compile(r"\{,\}"), ","),
    (re.compile(r"\\[,!](?=[0-9]{3})"), ""),
    (re.compile(r"\\[()\[\],;! ]|\\q?quad"), " "),
    (re.compile(r"\\([$%])"), r"\1"),
    (re.compile(r"\^?\{?\\circ\}?"), "°"),
    (re.compile(r"\A\s*(\*{1,3}|_{1,3}|`{1,3})(.+?)\1"), r"\2 "),
    (re.compile(r"[*_`]{1,3}\s*\Z"), ""),
)
_LEAD = re.compile(r"(?:so |thus |therefore |hence )?,?\s*(?:the )?(?:final )?answer(?: is)?\s*:?\s*", re.IGNORECASE)

_MONEY = r"(?:US\$|(?:USD|EUR|GBP)\b|[$€£¥₹])?\s*"
_DECIMAL = r"(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?:\.[0-9]*)?|\.[0-9]+"
_UNIT = r"(?:(?:sq(?:uare)? ?)?(?:mm|cm|dm|km|m|ft|in|yd|mi)(?:(?:\s*\^)?\{?[23]\}?|[²³])|[^\W\d_][^\d\n=+*<>]{0,60})"
_NUMBER = re.compile(
    rf"(?P<sign>[-+]?)\s*{_MONEY}(?P<inner>[-+]?)\s*"
    rf"(?:(?P<whole>[0-9]+)\s+(?P<top>[0-9]+)\s*/\s*(?P<bottom>[0-9]+)|"
    rf"(?P<number>{_DECIMAL})(?:\s*/\s*(?P<under>{_DECIMAL}))?)"
    rf"\s*[$€£¥₹%°]?\s*(?:[(/]?\s*(?:{_UNIT})\)?)?\s*[.!]?"
)


def parse_number(text: str) -> Fraction | None:
    """The one number that a short text is, or None.

    Around it may stand a currency or percent sign, a unit, emphasis, TeX, `x =`, `the answer is`. Commas group by
    three digits. A percent sign is a unit: `25%` is 25. Two numbers, such as `42 or 43`, are none.
    """
    plain = _plain(text)
    found = _NUMBER.fullmatch(plain)
    if found is None or sum(c.isdigit() for c in plain) > MAX_DIGITS or (found["sign"] and found["inner"]):
        return None
    if found["whole"]:
        top, bottom = int(found["top"]), int(found["bottom"])
        value = int(found["whole"]) + Fraction(top, bottom) if bottom else None
    else:
        under = _decimal(found["under"] or "1")
        value = _decimal(found["number"]) / under if under else None
    return -value if value is not None and "-" in (found["sign"], found["inner"]) else value


def _plain(text: str) -> str:
    text = text.strip()
    if len(text) > MAX_TEXT:
        return ""
    text = _SPACES.sub("", text).translate(_SIGNS)
    for pattern, replacement in _TEX:
        text = pattern.sub(replacement, text)
    text = text.strip().removeprefix("$").strip() if text.strip().endswith("$") else text.strip()
    text = text.removesuffix("$").rpartition("=")[2].strip(_AROUND)
    return _LEAD.sub("", text, count=1) if _LEAD.match(text) else text


def _decimal(text: str) -> Fraction:
    text = text.replace(",", "")
    return Fraction(text if text[-1] != "." else text[:-1])


def numbers_in(text: str) -> list[Fraction]:
    """Every number of a text in its order, also such as `twelve`, `twice` and `dozen`."""
    return list(_numbers(text))


def digits_in(text: str) -> list[Fraction]:
    """Every number that is written in digits."""
    return [_decimal(found[0].rstrip(",")) for found in _FOUND.finditer(text) if found[0][0].isdigit()]


def _numbers(text: str) -> Iterator[Fraction]:
    for found in _FOUND.finditer(text):
        word = found[0].lower()
        yield Fraction(_COUNTS[word]) if word in _COUNTS else _decimal(word.rstrip(","))


def exact_text(value: Fraction) -> str:
    """A number as an answer is stored: `84`, `12.5`, else `7/3`."""
    if value.denominator == 1:
        return str(value.numerator)
    places = decimal_places(value)
    if places is None:
        return f"{value.numerator}/{value.denominator}"
    scaled = abs(value.numerator) * 10**places // value.denominator
    digits = str(scaled).rjust(places + 1, "0")
    return f"{'-' if value < 0 else ''}{digits[:-places]}.{digits[-places:]}"


def decimal_places(value: Fraction, most: int = 12) -> int | None:
    """Digits behind the point that say a value exactly; None where `most` do not."""
    return next((places for places in range(most + 1) if 10**places % value.denominator == 0), None)
