"""Words of a text as the original's tokenizer has them, as far as words of one character go.

It is asked one thing: is this one character a word of the text? Texts come in lower case, and there a full stop after
a single character ends a sentence only at the end of the text or before something that is not a word in lower case.
"""

from __future__ import annotations

import re

_STOP_INSIDE = re.compile(r"(?<=(?<!\S)\w)\.(?=\s+[^\sa-z;:,.!?])")
_STOP_AT_END = re.compile(r"(?<!\.)\.(?=[\]\)}>\"'»”’ ]*\s*\Z)")
_ALWAYS_APART = re.compile(r"[;@#$%&?!*()\[\]{}<>\"«»“”‘’„]|`+|''|--|\.{2,}")
_APART_UNLESS_IN_NUMBERS = re.compile(r"[:,](?!\d)")
_OPENING_QUOTE = re.compile(r"(?<!\w)'(?!re|ve|ll|[mtsdn])(\w)\b")
_ENDINGS = (re.compile(r"(?<=[^' ])('[smd]?)(?= )"), re.compile(r"(?<=[^' ])('(?:ll|re|ve)|n't)(?= )"))


def words(text: str) -> list[str]:
    """In order."""
    text = _OPENING_QUOTE.sub(r"' \1", text)
    text = _STOP_INSIDE.sub(" . ", text)
    text = _STOP_AT_END.sub(" . ", text)
    text = _APART_UNLESS_IN_NUMBERS.sub(r" \g<0> ", text)
    text = _ALWAYS_APART.sub(r" \g<0> ", text)
    text = f" {text} "
    for ending in _ENDINGS:
        text = ending.sub(r" \1", text)
    return text.split()
