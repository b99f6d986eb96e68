"""Texts that others wrote, made safe to look at: what would move a cursor or turn the order of letters is shown."""

from __future__ import annotations

import re

_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff"
    "\ufff9-\ufffb\U000e0000-\U000e0fff]"
)
"""Control characters but for tab and line feed; directions; what takes no room."""

_NAMES = (
    "NUL", "SOH", "STX", "ETX", "EOT", "ENQ", "ACK", "BEL", "BS", "TAB", "LF", "VT", "FF", "CR", "SO", "SI",
    "DLE", "DC1", "DC2", "DC3", "DC4", "NAK", "SYN", "ETB", "CAN", "EM", "SUB", "ESC", "FS", "GS", "RS", "US",
)  # fmt: skip
"""Of the control characters, as ASCII has them; their own symbols are missing from many fonts."""


def visible(text: str) -> str:
    """The text with a name for every character that is not seen or acts on a terminal: `⟨ESC⟩[31m` for red."""
    return _HIDDEN.sub(_symbol, text)


def _symbol(match: re.Match[str]) -> str:
    code = ord(match.group())
    return f"⟨{_NAMES[code]}⟩" if code < len(_NAMES) else f"⟨U+{code:04X}⟩"


def typeable(text: str) -> bool:
    """Whether a person can paste it into a terminal as one line, and nothing happens but that it is there."""
    return text.isprintable()


def cut(text: str, most: int) -> str:
    """At most so many characters."""
    return text if len(text) <= most else text[: most - 1] + "…"
