"""Views printed as text: one entry for every dialect, and the way back from a number to a node."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from envservers.webarena.act import Act, Verb
from envservers.webarena.language import classic, html
from envservers.webarena.language.lines import Line
from envservers.webarena.nodes import Tab, View

DIALECTS: Mapping[str, Callable[[View], list[Line]]] = {"classic": classic.lines, "html": html.lines}

_POINTING = frozenset({Verb.CLICK, Verb.HOVER, Verb.TYPE, Verb.SELECT})


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """A printed view. Its numbers hold for it alone."""

    text: str
    keys: tuple[str, ...]
    """The engine's key of the node with the number place + 1."""
    names: tuple[str, ...]
    """The line of each, without number and indentation: `link 'Foo'`."""


def printed(view: View, dialect: str = "classic") -> Observation:
    """Tabs, a blank line, then a line for each node; numbers run from 1 over the lines that acts may name."""
    lines = DIALECTS[dialect](view)
    keys, names, texts = [], [], []
    for line in lines:
        number = ""
        if line.node.addressable:
            keys.append(line.node.key)
            names.append(line.text)
            number = f"[{len(keys)}] "
        texts.append("\t" * line.depth + number + line.text)
    text = "\n".join([tab_line(view.tabs, view.active), "", *texts])
    return Observation(text=text, keys=tuple(keys), names=tuple(names))


def tab_line(tabs: Sequence[Tab], active: int) -> str:
    """Every open tab in the order of opening."""
    parts = []
    for place, tab in enumerate(tabs):
        current = " (current)" if place == active else ""
        parts.append(f"Tab {place}{current}: {' '.join(tab.title.split())}")
    return " | ".join(parts)


def target_of(act: Act, observation: Observation) -> tuple[str, str]:
    """The key of the node that an act names, and an error for the agent when there is none; both empty without one."""
    if act.verb not in _POINTING:
        return "", ""
    if 1 <= act.element <= len(observation.keys):
        return observation.keys[act.element - 1], ""
    return "", (
        f"no element [{act.element}] on this page; the newest observation has 1 to {len(observation.keys)}, and older "
        f"numbers do not count"
    )
