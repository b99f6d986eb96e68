"""The parser of the original, bit for bit: what it understood and what it misunderstood. Its errors are NONE acts.

The verb is what stands before the first bracket, or the first word; then its form is searched for anywhere in the
text, and what follows the form is left unread.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from envservers.webarena.act import Act, Verb
from envservers.webarena.language.grammar import BARE, FORMS, LONGEST, keys, none, number, shown

_VERBS: Mapping[str, Verb] = {verb.value: verb for verb in FORMS if verb is not Verb.SELECT}
_FLAG = re.compile(r"(?=\] ?\[(\d+)\])")
"""Where a text may end: a bracket that closes it and a group of digits. A look-ahead, so that these may overlap."""


def parse_original(text: str) -> Act:
    """One action; NONE with the reason where the original raised."""
    if len(text) > LONGEST:
        return none(f"the action is longer than {LONGEST} characters")
    text = text.strip()
    if not text:
        return none("the action is empty")
    word = text.partition("[")[0].strip() if "[" in text else text.split()[0]
    verb = _VERBS.get(word)
    if verb is None:
        return none(f"no such action: {shown(word)}")
    if verb in BARE:
        return Act(verb=verb)
    return _READERS[verb](text) or none(f"{verb} must look like this: {FORMS[verb]}")


def _click(text: str) -> Act | None:
    found = re.search(r"click ?\[(\d+)\]", text)
    return Act(verb=Verb.CLICK, element=number(found[1])) if found else None


def _hover(text: str) -> Act | None:
    found = re.search(r"hover ?\[(\d+)\]", text)
    return Act(verb=Verb.HOVER, element=number(found[1])) if found else None


def _type(text: str) -> Act | None:
    if not text.endswith(("[0]", "[1]")):
        text += " [1]"
    for line in text.split("\n"):
        opening = re.search(r"type ?\[(\d+)\] ?\[", line)
        flags = list(_FLAG.finditer(line, opening.end() + 1)) if opening else []
        if opening and flags:
            typed = line[opening.end() : flags[-1].start()]
            return _typed(number(opening[1]), typed, enter=flags[-1][1] == "1")
    return None


def _typed(element: int, text: str, *, enter: bool) -> Act:
    """Characters without a key in the original's table were an uncaught error there."""
    for char in text:
        if not _has_key(char):
            return none(f"type has no key for the character {shown(char)}")
    return Act(verb=Verb.TYPE, element=element, text=text, enter=enter)


def _has_key(char: str) -> bool:
    return 0x20 <= ord(char) <= 0x7F or 0x81 <= ord(char) <= 0x3E7


def _press(text: str) -> Act | None:
    combination = _last_group(text, "press")
    return None if combination is None else Act(verb=Verb.PRESS, text=keys(combination))


def _scroll(text: str) -> Act | None:
    found = re.search(r"scroll ?\[?(up|down)\]?", text)
    return Act(verb=Verb.SCROLL, down=found[1] == "down") if found else None


def _tab_focus(text: str) -> Act | None:
    found = re.search(r"tab_focus ?\[(\d+)\]", text)
    return Act(verb=Verb.TAB_FOCUS, tab=number(found[1])) if found else None


def _goto(text: str) -> Act | None:
    url = _last_group(text, "goto")
    return None if url is None else Act(verb=Verb.GOTO, text=url)


def _stop(text: str) -> Act:
    return Act(verb=Verb.STOP, text=_last_group(text, "stop") or "")


def _last_group(text: str, verb: str) -> str | None:
    """What stands between the bracket after the verb and the last one that closes on the same line; never empty."""
    for line in text.split("\n"):
        opening = re.search(rf"{verb} ?\[", line)
        if opening and (end := line.rfind("]", opening.end() + 1)) > 0:
            return line[opening.end() : end]
    return None


_READERS: Mapping[Verb, Callable[[str], Act | None]] = {
    Verb.CLICK: _click,
    Verb.HOVER: _hover,
    Verb.TYPE: _type,
    Verb.PRESS: _press,
    Verb.SCROLL: _scroll,
    Verb.TAB_FOCUS: _tab_focus,
    Verb.GOTO: _goto,
    Verb.STOP: _stop,
}
