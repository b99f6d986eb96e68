"""Our own recipe table: `families.tsv` and `recipes.tsv` beside this file, expanded, and its seeded variations.

A line of `recipes.tsv` may stand for a family: `{wood}` runs over the members that `families.tsv` lists, and
`{wood.from}` is what that member is made from.
"""

from __future__ import annotations

import functools
import hashlib
import re
from collections.abc import Iterator
from dataclasses import replace
from importlib.resources import files

from envservers.games.textcraft.recipes import Recipe, Slot, parse_craft

WORLDS = 8
"""World 0 is the table as it stands; worlds 1 and up vary its counts and yields."""

_FAMILY = re.compile(r"\{(\w+)(?:\.from)?\}")


def rows(name: str) -> Iterator[list[str]]:
    """The lines of a TSV file beside this one, split; comments (`#`) and empty lines left out."""
    for line in files(__package__).joinpath(name).read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            yield line.split("\t")


def digest() -> str:
    """sha256 hex over the table's files."""
    names = ("families.tsv", "recipes.tsv", "tasks.tsv")
    data = [files(__package__).joinpath(name).read_bytes() for name in names]
    return hashlib.sha256(b"\0".join(data)).hexdigest()


@functools.cache
def recipes() -> tuple[Recipe, ...]:
    """Every recipe of the table, in its order."""
    families: dict[str, list[tuple[str, str]]] = {}
    for family, name, source in rows("families.tsv"):
        families.setdefault(family, []).append((name, source))
    return tuple(recipe for row in rows("recipes.tsv") for recipe in _expand(families, *row))


def _expand(families: dict[str, list[tuple[str, str]]], section: str, kind: str, text: str) -> Iterator[Recipe]:
    used = set(_FAMILY.findall(text))
    if len(used) > 1:
        raise ValueError(f"recipes.tsv: {text!r} names more than one family")
    family = used.pop() if used else ""
    for name, source in families.get(family, [("", "")]):
        filled = text.replace(f"{{{family}}}", name).replace(f"{{{family}.from}}", source) if family else text
        recipe = parse_craft(filled)
        if recipe is None or not recipe.count:
            raise ValueError(f"recipes.tsv: cannot read {filled!r}")
        yield replace(recipe, kind=kind, shape=text, section=section)


@functools.cache
def varied(world: int) -> tuple[Recipe, ...]:
    """The table of one world: the same ingredients, other counts and yields, alike for all variants of a shape."""
    return tuple(_vary(recipe, world) for recipe in recipes()) if world else recipes()


def _vary(recipe: Recipe, world: int) -> Recipe:
    """Counts move by one and never under 1; where a recipe yields several, it may yield up to two more."""
    draw = hashlib.sha256(f"textcraft:{world}:{recipe.shape}".encode()).digest()
    slots = tuple(
        Slot(max(1, slot.count + (-1, 0, 0, 1)[byte % 4]), slot.name)
        for slot, byte in zip(recipe.slots, draw[1:], strict=False)
    )
    count = recipe.count + draw[0] % 3 if recipe.count > 1 else 1
    return replace(recipe, count=count, slots=slots)
