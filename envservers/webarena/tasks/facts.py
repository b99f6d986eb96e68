"""What tasks ask about a world, from its tables alone. Knows no site: prices and names are worked out here again."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from envservers.webarena.world.world import World

SHOPPER = 1
"""The customer who is logged in in tasks of the shop."""
LONGEST_NAME = 80
"""Characters of product names that tasks use: lists cut longer ones."""
MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Product:
    """A product on sale whose name no other one has."""

    id: int
    name: str
    slug: str
    sku: str
    brand: str
    brand_slug: str
    category_id: int
    unit_cents: int
    """What is asked for it today."""
    stock: int
    weight_g: int
    varied: bool
    """Whether one chooses a color or a size."""


@lru_cache(maxsize=4)
def products(world: World) -> tuple[Product, ...]:
    """Every product that a task may name, by id."""
    percents = rule_percents(world)
    rows = world.rows(
        "SELECT product.*, brand.name AS brand, brand.slug AS brand_slug, "
        "EXISTS (SELECT 1 FROM variant WHERE product_id = product.id) AS varied "
        "FROM product JOIN brand ON brand.id = brand_id WHERE status = 'enabled' ORDER BY product.id"
    )
    names = Counter(row["name"].casefold() for row in rows)
    return tuple(
        Product(
            id=row["id"],
            name=row["name"],
            slug=row["slug"],
            sku=row["sku"],
            brand=row["brand"],
            brand_slug=row["brand_slug"],
            category_id=row["category_id"],
            unit_cents=unit_cents(row["price_cents"], row["special_cents"], percents.get(row["category_id"], 0)),
            stock=row["stock"],
            weight_g=row["weight_g"],
            varied=bool(row["varied"]),
        )
        for row in rows
        if names[row["name"].casefold()] == 1 and len(row["name"]) <= LONGEST_NAME
    )


def product(world: World, product_id: int) -> Product:
    """By id; LookupError for one that no task may name."""
    found = next((p for p in products(world) if p.id == product_id), None)
    if found is None:
        raise LookupError(f"product {product_id} is not one that tasks name")
    return found


def unit_cents(price_cents: int, special_cents: int | None, percent: int) -> int:
    """The lowest of the list price, the special price and the list price less a rule's percentage, half cents up."""
    reduced = price_cents - (price_cents * percent + 50) // 100
    return min(price_cents, reduced, price_cents if special_cents is None else special_cents)


@lru_cache(maxsize=4)
def rule_percents(world: World) -> Mapping[int, int]:
    """The best price rule in force on the world's day, by category; rules of a category hold below it."""
    day = world.starts_at[:10]
    rules = world.rows(
        "SELECT category_id, percent FROM price_rule WHERE active = 1 AND starts_on <= ? AND ends_on >= ? ORDER BY id",
        *(day, day),
    )
    parents = {row["id"]: row["parent_id"] for row in world.rows("SELECT id, parent_id FROM category ORDER BY id")}
    found: dict[int, int] = {}
    for category in parents:
        above: list[int | None] = [None]
        place: int | None = category
        while place is not None:
            above.append(place)
            place = parents[place]
        found[category] = max((rule["percent"] for rule in rules if rule["category_id"] in above), default=0)
    return found


def dollars(cents: int) -> str:
    """As a plain decimal: `1299.00`."""
    return f"{cents // 100}.{cents % 100:02d}"


def month_name(month: str) -> str:
    """`March 2026` of `2026-03`."""
    return f"{MONTHS[int(month[5:]) - 1]} {month[:4]}"


def months_before(day: str, count: int) -> list[str]:
    """The last whole months before a day, `YYYY-MM`, the newest first."""
    first = datetime.date.fromisoformat(day).replace(day=1)
    found = []
    for _ in range(count):
        first = (first - datetime.timedelta(days=1)).replace(day=1)
        found.append(first.isoformat()[:7])
    return found


@lru_cache(maxsize=4)
def category_path(world: World, category_id: int) -> tuple[str, ...]:
    """Names from the department down."""
    row = world.row("SELECT name, parent_id FROM category WHERE id = ?", category_id)
    above = () if row["parent_id"] is None else category_path(world, row["parent_id"])
    return (*above, row["name"])
