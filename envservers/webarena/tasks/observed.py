"""An observation's text read back: the lines of its tree, by number, role and name. Knows no engine and no page."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_LINE = re.compile(
    r"(?P<tabs>\t*)(?:\[(?P<id>\d+)\] )?(?P<role>\w+) (?P<name>'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")(?P<rest>.*)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One printed node."""

    depth: int
    id: int
    """0 where acts may not name it."""
    role: str
    name: str
    rest: str = ""
    """Its properties, as printed."""


def read_lines(observation: str) -> list[Line]:
    """The tree of an observation; lines of other blocks (tabs, URL, objective) are no nodes."""
    lines = []
    for text in observation.splitlines():
        match = _LINE.fullmatch(text)
        if match is None:
            continue
        name = ast.literal_eval(match["name"])  # a literal by the pattern
        line = Line(
            depth=len(match["tabs"]),
            id=int(match["id"] or 0),
            role=match["role"],
            name=name,
            rest=match["rest"].strip(),
        )
        lines.append(line)
    return lines


def below(lines: Sequence[Line], place: int) -> Sequence[Line]:
    """The lines inside of the one at `place`."""
    end = place + 1
    while end < len(lines) and lines[end].depth > lines[place].depth:
        end += 1
    return lines[place + 1 : end]


def inside(lines: Sequence[Line], role: str, text: str) -> Iterator[Sequence[Line]]:
    """Each subtree under a line of the role that has a text, in its own name or in one below; the line first."""
    for place, line in enumerate(lines):
        if line.role != role:
            continue
        part = below(lines, place)
        if text in line.name or any(text in inner.name for inner in part):
            yield (line, *part)


def joined(seen: Sequence[Line], screen: Sequence[Line]) -> list[Line]:
    """A page read in screens: `screen` goes on where `seen` ends, what both show counted once. Numbers are of no use.

    A screen begins with what encloses its first line, from the root on, and perhaps with a text that the screen
    before left out as said already.
    """
    chain = 0
    while chain < len(screen) and screen[chain].depth == chain:
        chain += 1
    best, begin = 0, 0
    for start in range(min(chain + SAID_AGAIN, len(screen)) + 1):
        overlap = _overlap(seen, screen[start:])
        if overlap > best:
            best, begin = overlap, start
    if not best:  # nothing in common: leave out what encloses both
        known = [_key(line) for line in seen]
        begin = next((n for n, line in enumerate(screen[:chain]) if _key(line) not in known), chain)
    return [*seen, *screen[begin + best :]]


SAID_AGAIN = 3
"""Lines that a dialect looks back to leave a text out."""


def _overlap(seen: Sequence[Line], rest: Sequence[Line]) -> int:
    keys, further = [_key(line) for line in seen], [_key(line) for line in rest]
    return next((n for n in range(min(len(keys), len(further)), 0, -1) if keys[-n:] == further[:n]), 0)


def _key(line: Line) -> tuple[str, str]:
    return line.role, line.name
