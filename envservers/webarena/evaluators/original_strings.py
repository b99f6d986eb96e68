"""The original's comparison of texts: `string_match`, and what `program_html` finds on a page."""

from __future__ import annotations

from envservers.webarena.evaluators.original_tokens import words


def clean(text: str) -> str:
    """Without blanks around it, without one pair of equal quotes, in lower case."""
    text = text.strip()
    if text and text[0] in "'\"" and text[-1] == text[0]:
        text = text[1:-1]
    return text.lower()


def is_exactly(reference: str, text: str) -> bool:
    """Equal when cleaned."""
    return clean(reference) == clean(text)


def includes(reference: str, text: str, *, alone: bool = False) -> bool:
    """A substring when cleaned; `alone`: the only reference of its task, which a single character makes a word."""
    wanted, said = clean(reference), clean(text)
    if alone and len(wanted) == 1 and len(words(wanted)) == 1:
        return wanted in words(said)
    return wanted in said
