"""An observation as the agent is given it: four blocks, the last of which tells what became of its action."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from envservers.webarena.act import Act, Verb
from envservers.webarena.language.dialects import Observation

NO_ACTION = "None"
"""PREVIOUS ACTION of the first observation."""
MOST_QUOTED = 200
"""Characters of a text that could not be read."""


def blocks(observation: str, *, url: str, objective: str, previous: str = NO_ACTION) -> str:
    """The text of a step. `previous` comes from `previous_action`."""
    return f"OBSERVATION:\n{observation}\nURL: {_line(url)}\nOBJECTIVE: {_line(objective)}\nPREVIOUS ACTION: {previous}"


def previous_action(act: Act, before: Observation, *, said: str = "", error: str = "") -> str:
    """One line on an act. `before` is the observation that it was made from, `said` its text, `error` the engine's."""
    if act.verb is Verb.NONE:
        quoted = _line(said)[:MOST_QUOTED]
        return (
            f'none: "{quoted}" was not understood ({_line(act.error)}). Write one action, its arguments in brackets, '
            "as in click [12]"
        )
    told = _TOLD[act.verb](act)
    if act.verb in _ON_ELEMENTS:
        if not 1 <= act.element <= len(before.names):
            return f'"{told}" was tried, but there is no element [{act.element}] on the page; look at it again'
        told += f" where [{act.element}] is {before.names[act.element - 1]}"
    return f"{told} (not done: {_line(error)})" if error else told


def _line(text: str) -> str:
    return " ".join(text.split())


def _typed(act: Act) -> str:
    """Enter is a line end behind the text, and line ends are shown as blanks."""
    return _LINE_ENDS.sub(" ", act.text + "\n" * act.enter)


_LINE_ENDS = re.compile(r"[\r\n\v\f\x1c-\x1e\x85\u2028\u2029]")
_ON_ELEMENTS = frozenset({Verb.CLICK, Verb.HOVER, Verb.TYPE, Verb.SELECT})
_TOLD: Mapping[Verb, Callable[[Act], str]] = {
    Verb.CLICK: lambda act: f"click [{act.element}]",
    Verb.HOVER: lambda act: f"hover [{act.element}]",
    Verb.TYPE: lambda act: f"type [{act.element}] [{_typed(act)}]",
    Verb.SELECT: lambda act: f"select [{act.element}] [{_line(act.text)}]",
    Verb.PRESS: lambda act: f"press [{_line(act.text)}]",
    Verb.SCROLL: lambda act: f"scroll [{'down' if act.down else 'up'}]",
    Verb.NEW_TAB: lambda act: "new_tab",
    Verb.TAB_FOCUS: lambda act: f"page_focus [{act.tab}]",
    Verb.CLOSE_TAB: lambda act: "close_tab",
    Verb.GOTO: lambda act: f"goto [{_line(act.text)}]",
    Verb.GO_BACK: lambda act: "go_back",
    Verb.GO_FORWARD: lambda act: "go_forward",
    Verb.STOP: lambda act: f"stop [{_line(act.text)}]",
}
