"""The words of the encyclopedia, read from the two YAML files beside this module."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

HELD_OUT = 2
"""The last phrasings of every question, seen in test_ood alone."""
PHRASINGS = 5
YEAR = "year"


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """One kind of fact: at most one object a subject."""

    name: str
    domain: str
    range: str
    """A kind of entity, or `year`."""
    missing: float
    """Share of subjects without it."""
    says: Sequence[str]
    asks: Sequence[str]
    nouns: Sequence[str] = ()
    """Empty for years: nothing leads on from them."""
    earlier: Sequence[str] = ()
    type: str = ""
    """What the object has to be, such as a shipyard, if the world has one; empty where its kind is enough."""
    mutual: bool = False
    """Whether the object has the subject for its own object: said once for both."""
    back: str = ""
    """The relation that leads from the object to the subject again."""
    label: str = ""
    """What two subjects may have in common; empty where questions do not ask."""


@functools.cache
def relations() -> Mapping[str, Relation]:
    """Every relation by name, in the order of the file."""
    return {name: Relation(name=name, **row) for name, row in _read("relations.yaml").items()}


@functools.cache
def relations_of(kind: str) -> tuple[Relation, ...]:
    """The relations whose subjects are of a kind."""
    return tuple(r for r in relations().values() if r.domain == kind)


@functools.cache
def words() -> Mapping[str, Any]:
    """Word lists and filling sentences."""
    found: Mapping[str, Any] = _read("words.yaml")
    return found


def _read(name: str) -> Any:
    import yaml

    return yaml.load(files(__package__).joinpath(name).read_text(encoding="utf-8"), yaml.CSafeLoader)
