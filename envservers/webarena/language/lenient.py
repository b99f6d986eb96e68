"""The default parser: what the original understood, and what it plainly should have.

An action that the original reads, is read equally, with two exceptions where it went wrong in silence: a third group
of `type` that is no flag was typed, and an answer of `stop` that it could not find became an empty one. Beyond that:
any Unicode, several lines in `type` and `stop`, verbs in any case, more blanks, an empty text to type, names in front
of flags and directions, more names of keys, and `select [id] [option]`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from envservers.webarena.act import Act, Verb
from envservers.webarena.language.grammar import BARE, FORMS, KEYS, LONGEST, MORE_KEYS, keys, none, number, shown
from envservers.webarena.language.original import parse_original

_VERB = re.compile(r"[A-Za-z_]+")
_VERBS: Mapping[str, Verb] = {**{verb.value: verb for verb in FORMS}, "page_focus": Verb.TAB_FOCUS}
_NUMBER = re.compile(r"\s*\[\s*(\d+)\s*\]")
_THIRD = re.compile(r"\]\s*\[([^\[\]]*)\]\Z")
_SWALLOWED = re.compile(r"\]\s*\[([^\[\]]*)\Z")
"""A third group that the original took for text."""
_FLAGS = {"0": False, "1": True}
_DIRECTION = re.compile(r"\s*(?:\[\s*)?(?:direction\s*=\s*)?(up|down)\b", re.IGNORECASE)


def parse_lenient(text: str) -> Act:
    """One action; NONE with the reason when there is none in the text."""
    if len(text) > LONGEST:
        return none(f"the action is longer than {LONGEST} characters")
    text = text.replace("\r\n", "\n").strip()
    if not text:
        return none("the action is empty")
    word = _VERB.match(text)
    verb = _VERBS.get(word[0].lower()) if word else None
    if word is None or verb is None:
        forms = ", ".join(FORMS.values())
        return none(f"no such action: {shown(text.partition('[')[0].strip() or text, 40)}; there are: {forms}")
    if verb in (Verb.TYPE, Verb.STOP):
        return _READERS[verb](text, text[word.end() :])
    known = parse_original(text)
    if known.verb is not Verb.NONE:
        return _with_more_keys(known)
    return _READERS[verb](text, text[word.end() :])


def _bare(verb: Verb, rest: str) -> Act:
    return Act(verb=verb) if not rest or rest[0] in "[ \t\n" else _malformed(verb)


def _pointed(verb: Verb) -> Callable[[str, str], Act]:
    def read(text: str, rest: str) -> Act:
        found = _NUMBER.match(rest)
        return Act(verb=verb, element=number(found[1])) if found else _malformed(verb)

    return read


def _type(text: str, rest: str) -> Act:
    """As the original, unless it took a further group for text; else up to the flag, or to the last bracket."""
    known = parse_original(text)
    if known.verb is Verb.TYPE:
        third = _SWALLOWED.search(known.text)
        return _flagged(known.element, known.text[: third.start()], third[1]) if third else known
    element = _NUMBER.match(rest)
    body = _body(rest[element.end() :]) if element else ""
    if element is None or not body:
        return _malformed(Verb.TYPE)
    third = _THIRD.search(body, 1)
    if third:
        return _flagged(number(element[1]), body[1 : third.start()], third[1])
    return Act(verb=Verb.TYPE, element=number(element[1]), text=body[1:-1])


def _body(rest: str) -> str:
    """From the bracket that opens the text to the last one that closes, on the first line when that is complete."""
    rest = rest.lstrip()
    first, newline, _ = rest.partition("\n")
    if newline and _balanced(first):
        rest = first
    end = rest.rfind("]") + 1
    return rest[:end] if rest.startswith("[") and end > 1 else ""


def _flagged(element: int, text: str, group: str) -> Act:
    enter = _flag(group)
    if enter is None:
        return none(
            f"type: {shown(group, 40)} is no flag; after the text write [1] to press Enter or [0] not to, and no "
            f"further group"
        )
    return Act(verb=Verb.TYPE, element=element, text=text, enter=enter)


def _flag(text: str) -> bool | None:
    """Whether to press Enter; None for what says neither."""
    name, equals, value = text.partition("=")
    if equals and name.strip().lower() != "press_enter_after":
        return None
    return _FLAGS.get((value if equals else text).strip())


def _balanced(line: str) -> bool:
    """Whether a line closes every bracket that it opens, and opens one."""
    depth = 0
    for char in line:
        depth += {"[": 1, "]": -1}.get(char, 0)
        if depth < 0:
            return False
    return depth == 0 and "[" in line


def _select(text: str, rest: str) -> Act:
    element = _NUMBER.match(rest)
    option = _group(rest[element.end() :]) if element else None
    if element is None or not option:
        return _malformed(Verb.SELECT)
    return Act(verb=Verb.SELECT, element=number(element[1]), text=option)


def _press(text: str, rest: str) -> Act:
    combination = _group(rest)
    return _with_more_keys(Act(verb=Verb.PRESS, text=combination)) if combination else _malformed(Verb.PRESS)


def _scroll(text: str, rest: str) -> Act:
    found = _DIRECTION.match(rest)
    return Act(verb=Verb.SCROLL, down=found[1].lower() == "down") if found else _malformed(Verb.SCROLL)


def _tab_focus(text: str, rest: str) -> Act:
    found = _NUMBER.match(rest)
    return Act(verb=Verb.TAB_FOCUS, tab=number(found[1])) if found else _malformed(Verb.TAB_FOCUS)


def _goto(text: str, rest: str) -> Act:
    url = _group(rest)
    return Act(verb=Verb.GOTO, text=url) if url else _malformed(Verb.GOTO)


def _stop(text: str, rest: str) -> Act:
    """As the original where it finds an answer. Prose that starts with the word must not end an episode."""
    known = parse_original(text)
    if known.text:
        return known
    if rest.lstrip().startswith("["):
        end = rest.rfind("]")
        if end < 0:
            return _malformed(Verb.STOP)
        return Act(verb=Verb.STOP, text=rest[rest.index("[") + 1 : end].strip())
    if known.verb is Verb.STOP or not rest.strip():
        return Act(verb=Verb.STOP)
    return _malformed(Verb.STOP)


def _group(rest: str) -> str | None:
    """What stands in brackets, up to the last one on its line; None without a group."""
    line = rest.lstrip().partition("\n")[0]
    end = line.rfind("]")
    return line[1:end].strip() if line.startswith("[") and end > 0 else None


def _with_more_keys(act: Act) -> Act:
    if act.verb is not Verb.PRESS:
        return act
    return Act(verb=Verb.PRESS, text="+".join(_key(key) for key in act.text.split("+")))


def _key(key: str) -> str:
    return keys(key.strip() or key, {**KEYS, **MORE_KEYS})


def _malformed(verb: Verb) -> Act:
    return none(f"{verb} must look like this: {FORMS[verb]}")


def _bare_reader(verb: Verb) -> Callable[[str, str], Act]:
    return lambda text, rest: _bare(verb, rest)


_READERS: Mapping[Verb, Callable[[str, str], Act]] = {
    Verb.CLICK: _pointed(Verb.CLICK),
    Verb.HOVER: _pointed(Verb.HOVER),
    Verb.TYPE: _type,
    Verb.SELECT: _select,
    Verb.PRESS: _press,
    Verb.SCROLL: _scroll,
    Verb.TAB_FOCUS: _tab_focus,
    Verb.GOTO: _goto,
    Verb.STOP: _stop,
    **{verb: _bare_reader(verb) for verb in BARE},
}
