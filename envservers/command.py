"""A typed command without what people and models put around it."""

from __future__ import annotations

_AROUND = " .,;:!\"'`“”‘’<>[]*"


def command(text: str) -> str:
    """In lower case, with single blanks, without quotes, brackets, emphasis and a full stop around it."""
    return bare(" ".join(text.lower().split()))


def bare(text: str) -> str:
    """`text` without the marks around it."""
    return text.strip(_AROUND)
