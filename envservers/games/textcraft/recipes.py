"""Recipes and the one way in which they are written: `4 stick using 2 planks`.

A recipe of the table, a recipe that a caller fixes and the craft that an agent asks for are all read by `parse_craft`.
Names are lower-case words with single blanks; `minecraft:oak_planks` is the same name as `oak planks`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

MAX_COUNT = 9999
"""Counts are 1 to this; a larger one is refused, so an inventory never holds astronomical numbers."""

MAX_SLOTS = 64
"""Of a recipe; a crafting grid has 9. More are not read, so that no text takes long."""

NAMESPACE = "minecraft:"
_COUNT = re.compile(r"0*([1-9][0-9]{0,3})\s(.+)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Slot:
    """One ingredient of a recipe, or one entry of an agent's list: exactly `count` of `name`."""

    count: int
    name: str
    """An item, or a kind such as `planks`, which any single member fills."""

    def __str__(self) -> str:
        return f"{self.count} {self.name}"


@dataclass(frozen=True, slots=True)
class Recipe:
    """`count` of `result` from the ingredients, all or nothing.

    Example: `Recipe(4, "stick", (Slot(2, "planks"),))` reads `craft 4 stick using 2 planks`.
    """

    count: int
    result: str
    slots: tuple[Slot, ...]
    kind: str = ""
    """The generic ingredient that the result is a member of (its group), such as `planks`; empty for none."""
    shape: str = ""
    """The recipe with its variant (colour, wood and the like) left open: `4 {wood} planks using 1 {wood.from}`."""
    section: str = ""
    """The part of the table that it stands in."""

    @property
    def template(self) -> str:
        """The result's part of the shape: `{wood} planks`. Two goals of one template differ in their variant alone."""
        return self.shape.partition(" using ")[0].partition(" ")[2]

    def __str__(self) -> str:
        return f"craft {self.count} {self.result} using {', '.join(map(str, self.slots))}"


def plain_name(text: str) -> str:
    """The name that `text` means: `minecraft:oak_planks`, `Oak  Planks` and `oak planks` are one."""
    return " ".join(text.lower().replace("_", " ").split()).removeprefix(NAMESPACE)


def item_id(name: str) -> str:
    """The item's id as Minecraft writes it: `minecraft:oak_planks`."""
    return (name if ":" in name else NAMESPACE + name).replace(" ", "_")


def parse_slot(text: str) -> Slot | None:
    """`2 oak planks`; None when there is no count from 1 to `MAX_COUNT`, or no name."""
    match = _COUNT.fullmatch(text.strip())
    if match is None or not (name := plain_name(match[2])):
        return None
    return Slot(int(match[1]), name)


def parse_craft(text: str) -> Recipe | None:
    """`4 stick using 2 planks`, without the word craft; None when it does not read so, or has over MAX_SLOTS parts.

    The count of the result may be left out and is 0 then: as many as the recipe yields.
    """
    result, using, rest = text.partition(" using ")
    if rest.count(",") >= MAX_SLOTS:
        return None
    head = parse_slot(result)
    if head is None and not result[:1].isdigit() and plain_name(result):
        head = Slot(0, plain_name(result))
    slots = [parse_slot(part) for part in rest.split(",")]
    if not using or head is None or None in slots:
        return None
    return Recipe(head.count, head.name, tuple(slot for slot in slots if slot is not None))
