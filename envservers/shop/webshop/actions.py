"""The grammar of actions: `search[keywords]` and `click[value]`, one a turn."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

_ACTION = re.compile(r"\s*(search|click)\s*\[(.*)\]\s*\.?\s*", re.DOTALL | re.IGNORECASE)
_ANOTHER = re.compile(r"\](?:[^\[\]]*\W)?(?:search|click)\s*\[", re.IGNORECASE)
_WRONG = (
    (re.compile(r"\b(?:search|click)\s*\[.*\]", re.DOTALL | re.IGNORECASE), "nothing may stand before or behind it"),
    (re.compile(r"\b(?:search|click)\s*\[", re.IGNORECASE), "its bracket is not closed"),
    (re.compile(r"\b(?:search|click)\s*[(\"':]", re.IGNORECASE), "what it is about stands in square brackets"),
)
"""What is wrong with a text that is no action, the first that fits."""


class Verb(StrEnum):
    """What an action does."""

    SEARCH = "search"
    CLICK = "click"


@dataclass(frozen=True, slots=True)
class Command:
    """An action that was understood."""

    verb: Verb
    argument: str
    """Not empty; inner brackets are part of it, blanks around it are not."""


def read_action(text: str) -> Command | str:
    """The command, or why there is none. The outermost brackets count: `click[size [large]]` clicks `size [large]`."""
    found = _ACTION.fullmatch(text)
    if not found:
        return next((why for form, why in _WRONG if form.search(text)), "this is neither a search nor a click")
    if _ANOTHER.search(found[2]):
        return "only one action a turn"
    argument = " ".join(found[2].split())
    if not argument:
        return "nothing stands between the brackets"
    return Command(Verb(found[1].lower()), argument)
