"""The catalogue of WebShop's files, made once for files of these sizes and times."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from agentenv.config import home
from agentenv.errors import UnknownOption
from agentenv.keep import kept, stages
from agentenv.protocol import digest_of
from envservers.shop.webshop.files.convert import made_goals, people_goals, product_of
from envservers.shop.webshop.files.objects import objects
from envservers.shop.webshop.made_by import made_by
from envservers.shop.webshop.products import Product
from envservers.shop.webshop.store import FILE, write_goals, write_products

SHUFFLED = 233
"""Seed of the order of goals, as in WebShop."""
TEST, DEV = 500, 1000
"""Goals of test and of dev, the first ones; fewer than both together are all test."""


def files_catalogue(*, items: str, attributes: str, goals: str) -> Path:
    """The catalogue, made if it is not there yet; UnknownOption names a file that does not fit."""
    named = {"items": items, "attributes": attributes, "goals": goals}
    paths = {name: Path(file).expanduser().absolute() for name, file in named.items() if file}
    try:
        marks = [(name, str(p), p.stat().st_size, p.stat().st_mtime_ns) for name, p in paths.items()]
    except OSError as exc:
        raise UnknownOption(f"a file of products or goals cannot be read: {exc}") from exc
    folder = home() / "shop" / f"files-{digest_of([str(p) for p in paths.values()])[:16]}"
    key = digest_of([made_by(__package__), marks])
    return kept(folder, key, lambda work: _write(work / FILE, paths)) / FILE


def _write(path: Path, paths: dict[str, Path]) -> None:
    with stages("webshop", ("attributes and goals", "products", "goals")) as stage:
        next(stage)
        known = _read(paths, "attributes")
        people = _read(paths, "goals")
        next(stage)
        goals: list[dict[str, Any]] = []
        write_products(path, _products(paths["items"], known, people if "goals" in paths else None, goals))
        next(stage)
        random.Random(SHUFFLED).shuffle(goals)
        write_goals(path, _splits(goals))


def _products(
    items: Path, known: dict[str, Any], people: dict[str, Any] | None, goals: list[dict[str, Any]]
) -> Iterator[Product]:
    """Every product once; what is wished of it is added to `goals`."""
    seen: set[str] = set()
    try:
        for number, item in enumerate(objects(items)):
            try:
                about = known.get(item["asin"]) or {}
                product = product_of(item, about)
                if product is None or product.asin in seen:
                    continue
                seen.add(product.asin)
                group = str(item.get("category") or "")
                if people is None:
                    goals.extend(made_goals(product, about, group))
                else:
                    goals.extend(people_goals(product, people.get(item["asin"]) or [], group))
            except (KeyError, TypeError, AttributeError) as exc:
                raise ValueError(f"item {number} is no product of WebShop: {exc!r}") from exc
            yield product
    except (OSError, ValueError) as exc:
        raise UnknownOption(f"option items={str(items)!r}: {exc}") from exc


def _read(paths: dict[str, Path], name: str) -> dict[str, Any]:
    if name not in paths:
        return {}
    try:
        loaded = json.loads(paths[name].read_text(encoding="utf-8"))
        if not isinstance(loaded, dict):
            raise ValueError("not an object of product ids")
    except (OSError, ValueError) as exc:
        raise UnknownOption(f"option {name}={str(paths[name])!r}: {exc}") from exc
    return loaded


def _splits(goals: Sequence[dict[str, Any]]) -> dict[str, Sequence[dict[str, Any]]]:
    if not goals:
        raise UnknownOption("options items, attributes and goals: no goal is of a product in items")
    if len(goals) <= TEST + DEV:
        return {"test": goals}
    return {"train": goals[TEST + DEV :], "dev": goals[TEST : TEST + DEV], "test": goals[:TEST]}
