"""The grammar of actions: `search[keywords]` and `click[value]`, one a turn."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

_ACTION = re.compile(r"(search|click)\s*\[(.*)\]", re.DOTALL | re.IGNORECASE)
_ANOTHER = re.compile(r"\](?:[^\[\]]*\W)?(?:search|click)\s*\[", re.IGNORECASE)
_OPENED = re.compile(r"\b(?:search|click)\s*\[", re.IGNORECASE)
_OTHERWISE = re.compile(r"\b(?:search|click)\s*[(\"':]", re.IGNORECASE)


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
    said = text.strip()
    found = _ACTION.fullmatch(said.removesuffix(".").rstrip())
    if not found:
        return _why_none(said)
    if _ANOTHER.search(found[2]):
        return "only one action a turn"
    argument = " ".join(found[2].split())
    if not argument:
        return "nothing stands between the brackets"
    return Command(Verb(found[1].lower()), argument)


def _why_none(said: str) -> str:
    """What is wrong with a text that is no action."""
    if opened := _OPENED.search(said):
        closed = said.find("]", opened.end()) >= 0
        return "nothing may stand before or behind it" if closed else "its bracket is not closed"
    if _OTHERWISE.search(said):
        return "what it is about stands in square brackets"
    return "this is neither a search nor a click"
