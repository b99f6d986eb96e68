"""Recipes from a folder of Minecraft data-pack files (`crafting_shaped` and `crafting_shapeless`).

Files are read in the order of their relative paths, so a folder gives the same recipes, cycles and ids on any machine.
Of a list of alternatives the first counts. Smelting, smithing, stonecutting and the special recipes are left out.
"""

from __future__ import annotations

import functools
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from agentenv.errors import UnknownOption
from envservers.games.textcraft.recipes import Recipe, Slot, plain_name

COLOURS = (
    *("light blue", "light gray", "white", "orange", "magenta", "yellow", "lime", "pink", "gray", "cyan", "purple"),
    *("blue", "brown", "green", "red", "black"),
)
WOODS = (
    "dark oak",
    "pale oak",
    "oak",
    "spruce",
    "birch",
    "jungle",
    "acacia",
    "mangrove",
    "cherry",
    "crimson",
    "warped",
)


@functools.lru_cache(maxsize=8)
def read_pack(folder: str) -> tuple[Recipe, ...]:
    """Every crafting recipe under `folder`, without those that unpack a block; UnknownOption when there is none."""
    root = Path(folder)
    if not root.is_dir():
        raise UnknownOption(f"option recipes={folder!r}: no such folder; name one that holds recipe JSON files")
    paths = sorted(root.rglob("*.json"), key=lambda path: path.relative_to(root).as_posix())
    found = tuple(recipe for path in paths if (recipe := _read(path)) is not None)
    if not found:
        raise UnknownOption(f"option recipes={folder!r}: none of its {len(paths)} JSON files is a crafting recipe")
    return found


def _read(path: Path) -> Recipe | None:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        return _recipe(data) if isinstance(data, dict) else None
    except (ValueError, KeyError, TypeError, IndexError, AttributeError) as exc:
        raise UnknownOption(f"option recipes: {path} is not a recipe: {type(exc).__name__}: {exc}") from exc


def _recipe(data: Mapping[str, Any]) -> Recipe | None:
    match str(data.get("type", "")).removeprefix("minecraft:"):
        case "crafting_shaped":
            cells = Counter("".join(data["pattern"]))
            slots = _slots((_name(item), cells[key]) for key, item in data["key"].items())
        case "crafting_shapeless":
            slots = _slots((_name(item), 1) for item in data["ingredients"])
        case _:
            return None
    result = data["result"]
    if isinstance(result, str):
        result = {"item": result}
    name = plain_name(result.get("item") or result["id"])
    if len(slots) == 1 and slots[0].name.endswith(" block"):
        return None  # the way back from a block to what it was packed from
    count = int(result.get("count", 1))
    if not name or not slots or count < 1:
        raise ValueError("a recipe needs a result and ingredients")
    recipe = Recipe(count, name, slots, kind=plain_name(data.get("group", "")), section="data pack")
    return replace(recipe, shape=open_shape(recipe))


def _slots(parts: Iterable[tuple[str, int]]) -> tuple[Slot, ...]:
    """Ingredients added up by name, in the order of their first appearance."""
    counts: dict[str, int] = {}
    for name, count in parts:
        counts[name] = counts.get(name, 0) + count
    return tuple(Slot(count, name) for name, count in counts.items() if count > 0)


def _name(item: Any) -> str:
    if isinstance(item, list):
        item = item[0]
    return plain_name(item.removeprefix("#") if isinstance(item, str) else item.get("item") or item["tag"])


def open_shape(recipe: Recipe) -> str:
    """The recipe's text with every colour and wood left open, so that variants read alike."""
    slots = ", ".join(f"{slot.count} {_open(slot.name)}" for slot in recipe.slots)
    return f"{recipe.count} {_open(recipe.result)} using {slots}"


def _open(name: str) -> str:
    for label, words in (("{colour}", COLOURS), ("{wood}", WOODS)):
        for word in words:
            if name.startswith(word + " ") or name.startswith(f"stripped {word} "):
                return name.replace(word, label, 1)
    return name
