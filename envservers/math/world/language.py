"""Templates, people, things and asides, read from the YAML files beside this module."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

HELD_OUT = 2
"""The last phrasings of a template and the last asides of a category, seen in test_ood alone."""
_STEP = re.compile(r"(\w+) = (\w+) ([-+*/]) (\w+)")


@dataclass(frozen=True, slots=True)
class Operation:
    """One step of a solution: `name = left sign right`; left and right are names or whole numbers."""

    name: str
    left: str
    sign: str
    right: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """A kind of problem: its numbers, the operations that lead to the answer, the words."""

    name: str
    category: str
    slots: Mapping[str, Sequence[int]]
    """The values that each number is drawn from, in hundredths."""
    steps: tuple[Operation, ...]
    texts: tuple[str, ...]
    things: str = ""
    """Name of the list that `{x}` and `{y}` are drawn from."""
    cents: bool = False
    """Values may have two decimals; without, all are whole."""
    whole: frozenset[str] = frozenset()
    """Steps that are whole all the same."""
    held_out: bool = False
    """Seen in test_ood alone."""

    @property
    def difficulty(self) -> int:
        """1 for two operations, then one more for each, 5 for six and more."""
        return min(len(self.steps) - 1, 5)


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """Whom and what problems are about."""

    people: tuple[tuple[str, str], ...]
    """Each with `he` or `she`."""
    things: Mapping[str, tuple[str, ...]]


@functools.cache
def templates() -> Mapping[str, Template]:
    """Every template by name, in the order of the file."""
    return {name: _template(name, row) for name, row in _read("templates.yaml").items()}


@functools.cache
def words(*, held_out: bool) -> Words:
    """The words of test_ood, or those of all other splits."""
    row = _read("words.yaml")
    row = row["held_out"] if held_out else row
    people = [(name, he) for he, names in row["people"].items() for name in names]
    return Words(people=tuple(people), things={kind: tuple(things) for kind, things in row["things"].items()})


@functools.cache
def asides(category: str, *, held_out: bool) -> tuple[str, ...]:
    """Sentences with numbers that do not matter."""
    found = _read("asides.yaml")[category]
    return tuple(found[-HELD_OUT:] if held_out else found[:-HELD_OUT])


def _template(name: str, row: Mapping[str, Any]) -> Template:
    steps = tuple(Operation(*_STEP.fullmatch(step).groups()) for step in row["steps"])  # type: ignore[union-attr]
    return Template(
        name=name,
        category=row["category"],
        slots={slot: _values(given) for slot, given in row["slots"].items()},
        steps=steps,
        texts=tuple(row["texts"]),
        things=row.get("things", ""),
        cents=row.get("cents", False),
        whole=frozenset(row.get("whole", ())),
        held_out=row.get("held_out", False),
    )


def _values(given: Any) -> Sequence[int]:
    if isinstance(given, dict):
        return [100 * value for value in given["of"]]
    low, high, *step = (round(100 * value) for value in given)
    return range(low, high + 1, *(step or (100,)))


def _read(name: str) -> Any:
    import yaml

    return yaml.load(files(__package__).joinpath(name).read_text(encoding="utf-8"), yaml.CSafeLoader)
