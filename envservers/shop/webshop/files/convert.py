"""Products and goals out of WebShop's records: items_shuffle.json, items_ins_v2.json and items_human_ins.json."""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Iterator, Mapping
from typing import Any

from agentenv.protocol import UNPROVEN
from envservers.shop.webshop.matching import alike
from envservers.shop.webshop.products import Goal, Product
from envservers.shop.webshop.reward import score

NO_PRICE = 100.0
"""Dollars, of a product without a price."""
LIMITS = [10.0 * step for step in range(1, 100)]
"""Price limits that goals have, in dollars."""
COMBINATIONS = 64
"""Goals that are made of the options of one product, at most."""
_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")

Row = Mapping[str, Any]


def product_of(item: Row, known: Row) -> Product | None:
    """A product; None of an item without a usable id. `known`: what items_ins_v2.json says of it."""
    asin = str(item["asin"])
    if asin == "nan" or not 1 <= len(asin) <= 10:
        return None
    prices = [float(text.replace(",", "")) for text in _NUMBER.findall(str(item.get("pricing") or ""))][:2]
    prices = prices or [NO_PRICE]
    said = item.get("small_description") or []
    return Product(
        asin=asin.upper(),
        title=str(item["name"]),
        query=str(item.get("query") or "").lower().strip(),
        category=str(item.get("product_category") or ""),
        price=sum(prices) / len(prices),
        price_tag=" to ".join(f"${price}" for price in prices),
        attributes=tuple(map(str, known.get("attributes") or ())),
        options=dict(_options(item.get("customization_options") or {})),
        description=str(item.get("full_description") or ""),
        features=tuple(map(str, said if isinstance(said, list) else [said])),
    )


def _options(options: Row) -> Iterator[tuple[str, tuple[str, ...]]]:
    for name, contents in options.items():
        values = [str(content["value"]).strip().replace("/", " | ").lower() for content in contents or ()]
        if values:
            yield str(name).lower(), tuple(dict.fromkeys(values))


def people_goals(product: Product, wishes: list[Row], group: str) -> Iterator[dict[str, Any]]:
    """The goals that people wrote for a product (items_human_ins.json)."""
    for number, wish in enumerate(wishes):
        options = wish.get("instruction_options") or {}
        named = options if isinstance(options, dict) else {str(place): value for place, value in enumerate(options)}
        if wish.get("instruction_attributes"):
            attributes = [str(name) for name in wish["instruction_attributes"]]
            text = str(wish["instruction"]).strip(".")
            yield _goal(product, text, attributes, {n: str(v).lower() for n, v in named.items()}, number, group)


def made_goals(product: Product, known: Row, group: str) -> Iterator[dict[str, Any]]:
    """A goal for each combination of the product's options (items_ins_v2.json)."""
    attributes = [str(name) for name in known.get("instruction_attributes") or ()]
    if not attributes or not known.get("instruction"):
        return
    names = sorted(product.options)
    combined = itertools.product(*(product.options[name] for name in names))
    for number, values in enumerate(itertools.islice(combined, COMBINATIONS)):
        options = dict(zip(names, values, strict=True))
        said = ", and ".join(f"{name}: {value}" for name, value in options.items())
        text = str(known["instruction"]) + (f" with {said}" if said else "")
        yield _goal(product, text, attributes, options, number, group)


def _goal(
    product: Product, text: str, attributes: list[str], options: dict[str, str], number: int, group: str
) -> dict[str, Any]:
    limit = _limit(product, number)
    goal = {
        "instruction": text if limit is None else f"{text}, and price lower than {limit:.2f} dollars",
        "asin": product.asin,
        "name": product.title,
        "query": product.query,
        "category": product.category,
        "attributes": attributes,
        "options": options,
        "price_upper": limit,
    }
    chosen = _clicks(product, options)
    solved = score(product, chosen, Goal.from_json(goal)).success
    price = "any price" if limit is None else "a price"
    return {
        **goal,
        "search": product.title,
        "tabs": [],
        "clicks": list(chosen.values()),
        "canonical": "; ".join((product.asin, *sorted(attributes), *sorted(options.values()))),
        "group": group if solved else UNPROVEN,
        "template": f"{len(attributes)} attributes, {len(options)} options, {price}",
        "difficulty": 0,
    }


def _limit(product: Product, number: int) -> float | None:
    """The dearer of two of the next four limits above the price; None where there are not two."""
    above = [limit for limit in LIMITS if limit > product.price][:4]
    rng = random.Random(f"webshop limit {product.asin} {number}")
    return max(rng.sample(above, 2)) if len(above) >= 2 else None


def _clicks(product: Product, options: Mapping[str, str]) -> dict[str, str]:
    """The product's own options that count as those of the goal; an equal value goes before one that is alike."""
    chosen: dict[str, str] = {}
    for wanted in options.values():
        pairs = [(name, value) for name, values in product.options.items() if name not in chosen for value in values]
        exact = [pair for pair in pairs if pair[1] == wanted]
        near = [pair for pair in pairs if alike(pair[1], wanted)]
        chosen.update((exact or near)[:1])
    return chosen
