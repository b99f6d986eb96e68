"""Free replies read by type: every value of a type that a text names, in its order."""

from __future__ import annotations

import datetime
import json
import re
import unicodedata
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation

MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "jan january",
            "feb february",
            "mar march",
            "apr april",
            "may",
            "jun june",
            "jul july",
            "aug august",
            "sep sept september",
            "oct october",
            "nov november",
            "dec december",
        ),
        1,
    )
    for name in names.split()
}
_MONTH = "(?P<month>" + "|".join(sorted(MONTHS, key=len, reverse=True)) + r")\.?"
_DATES = (
    re.compile(r"(?<!\d)(?P<y>\d{4})-(?P<m>\d{1,2})-(?P<d>\d{1,2})(?!\d)"),
    re.compile(r"(?<!\d)(?P<m>\d{1,2})/(?P<d>\d{1,2})/(?P<y>\d{4})(?!\d)"),  # month first
    re.compile(rf"\b{_MONTH}\s+(?P<d>\d{{1,2}})(?:st|nd|rd|th)?,?\s+(?P<y>\d{{4}})(?!\d)", re.IGNORECASE),
    re.compile(
        rf"(?<!\d)(?P<d>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?{_MONTH},?\s+(?P<y>\d{{4}})(?!\d)", re.IGNORECASE
    ),
)
_NUMBER = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+"
_PLAIN = re.compile(rf"(?<![\w.])[-−]?(?:{_NUMBER})(?![\w])")
_MARKED = re.compile(
    rf"(?P<sign>(?<!\w)[-−]\s?)?(?:\$|USD\s?)\s?(?P<a>[-−]?(?:{_NUMBER}))|(?<![\w.])(?P<b>[-−]?(?:{_NUMBER}))\s?(?:USD|dollars?)\b",
    re.IGNORECASE,
)
_FOREIGN = re.compile(r"[€£¥₹]|\b(?:EUR|GBP|CHF|JPY|euros?|pounds?|yen)\b", re.IGNORECASE)
_BESIDE = re.compile(
    r"(?i:\bnot|n['’]t|\bnever|\b(?:more|less|fewer|other|rather) than|\bat (?:least|most))"
    r"(?: (?:be|the|exactly|on|number|order))?[ (\"'*#$]*(?=[-−]?\.?\d|(?i:yes|no)\b|[A-Z][a-z]{2,8}\.? \d)"
    r"|\d(?: [a-z]{1,12})? or (?:more|less|fewer)\b"
)
_DIGITS = re.compile(r"(?<![\w.])#?(\d+)(?![\w])(?!\.\d)")
_YES_NO = re.compile(r"\b(yes|no|true|false)\b", re.IGNORECASE)
_LEAD = re.compile(r"^(?:(?:the|my|final)\s+)*(?:answer\s+is|answer)\s*[:=]?\s*", re.IGNORECASE)
_BULLET = re.compile(r"^\s*(?:[-*•]|\d{1,3}[.)])\s+")
_NAMES = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_WORDS = {name: number for number, name in enumerate(_NAMES)}


def plain(text: str) -> str:
    """Text as it is compared: NFKC, folded case, single spaces, typographic quotes and dashes made plain."""
    text = unicodedata.normalize("NFKC", text).casefold()
    for found, wanted in (
        ("\u2018", "'"),
        ("\u2019", "'"),
        ("\u201c", '"'),
        ("\u201d", '"'),
        ("\u2013", "-"),
        ("\u2014", "-"),
        ("\u2212", "-"),
    ):
        text = text.replace(found, wanted)
    return " ".join(text.split())


def text_of(reply: str) -> str:
    """A reply that is one text: without a lead such as `Answer:`, outer quotes or stars of bold print, a full stop."""
    text = _LEAD.sub("", _unmarked(plain(reply)))
    stripped = _unmarked(text.rstrip(".!").strip())
    if len(stripped) >= 2 and stripped[0] == stripped[-1] and stripped[0] in "\"'`":
        stripped = stripped[1:-1].strip()
    return stripped.rstrip(".").strip()


def _unmarked(text: str) -> str:
    """Without the two stars that make a whole text bold in Markdown."""
    return text[2:-2].strip() if len(text) > 4 and text.startswith("**") and text.endswith("**") else text


def dates(reply: str) -> list[str]:
    """Every date, as `YYYY-MM-DD`."""
    found: list[tuple[int, str]] = []
    for pattern in _DATES:
        for match in pattern.finditer(reply):
            parts = match.groupdict()
            month = int(parts["m"]) if parts.get("m") else MONTHS[parts["month"].lower()]
            try:
                day = datetime.date(int(parts["y"]), month, int(parts["d"]))
            except ValueError:
                continue
            found.append((match.start(), day.isoformat()))
    return [day for _, day in sorted(found)]


def numbers(reply: str) -> list[Decimal]:
    """Every number that stands alone; no part of a date or of a word. A reply that is one word may spell it."""
    if (word := text_of(reply)) in _WORDS:
        return [Decimal(_WORDS[word])]
    return list(_decimals(m.group() for m in _PLAIN.finditer(_without_dates(reply).replace("%", " "))))


def amounts(reply: str) -> list[Decimal]:
    """Every amount of money: those with a currency, else every number."""
    marked = [f"{m['sign'] or ''}{m['a'] or m['b']}" for m in _MARKED.finditer(reply)]
    return list(_decimals(marked)) if marked else numbers(reply)


def identifiers(reply: str) -> list[str]:
    """Every run of digits, without leading zeros: `#000000170` is 170."""
    return [digits.lstrip("0") or "0" for digits in _DIGITS.findall(_without_dates(reply))]


def in_other_words(reply: str) -> bool:
    """Whether a reply says of a value that it is not this one, or names a bound of it: `not 12`, `more than 12`."""
    return _BESIDE.search(" ".join(reply.split())) is not None


def in_other_money(reply: str) -> bool:
    """Whether a reply names a currency that is not the sites' one."""
    return _FOREIGN.search(reply) is not None


def truths(reply: str) -> list[str]:
    """Every yes and no."""
    return ["yes" if word.lower() in ("yes", "true") else "no" for word in _YES_NO.findall(reply)]


def splits(reply: str) -> Iterator[list[str]]:
    """The ways to read a reply as a list, the surest first: JSON, lines, semicolons, commas."""
    text = reply.strip()
    if (items := _json_list(text)) is not None:
        yield items
        return
    text = _LEAD.sub("", text)
    if text.startswith("[") and text.endswith("]"):
        text = text[1:-1]
    for parts in (text.splitlines(), text.split(";"), text.split(","), re.split(r",|;|\n|\band\b", text)):
        items = [_BULLET.sub("", part).strip() for part in parts]
        items = [re.sub(r"^and\s+", "", item) for item in items if item]
        if items:
            yield items


def _json_list(text: str) -> list[str] | None:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if isinstance(found, list) and all(isinstance(item, str | int | float) for item in found):
        return [str(item) for item in found]
    return None


def _without_dates(text: str) -> str:
    for pattern in _DATES:
        text = pattern.sub(" ", text)
    return text


def _decimals(texts: Iterator[str] | list[str]) -> Iterator[Decimal]:
    for text in texts:
        try:
            yield Decimal(text.replace(",", "").replace("−", "-").replace(" ", ""))
        except InvalidOperation:  # pragma: no cover  (the patterns match numbers alone)
            continue
