"""What plans of the administration have in common."""

from __future__ import annotations

import random
from functools import lru_cache
from sqlite3 import Row

from envservers.webarena.tasks.plan import Click, Fill, Step
from envservers.webarena.tasks.template import Params
from envservers.webarena.world.world import World

HOST = "admin.shop.test"
REFUNDABLE = ("processing", "shipped", "complete")


def to_orders(*filters: Step) -> tuple[Step, ...]:
    """To the list of orders, filtered."""
    return Click("link", "Sales"), *filters, Click("button", "Apply Filters")


def to_documents(page: str, *filters: Step) -> tuple[Step, ...]:
    """To another list of the section Sales, filtered."""
    return Click("link", "Sales"), Click("link", page), *filters, Click("button", "Apply Filters")


def to_order(number: str) -> tuple[Step, ...]:
    """To the page of an order."""
    return *to_orders(Fill("Order number", number)), Click("link", number)


def to_products(*filters: Step) -> tuple[Step, ...]:
    """To the list of products, filtered."""
    return Click("link", "Catalog"), *filters, Click("button", "Apply Filters")


def to_product(sku: str, name: str) -> tuple[Step, ...]:
    """To the page of a product by its SKU."""
    return *to_products(Fill("SKU", sku)), Click("link", name)


def to_reviews(*filters: Step) -> tuple[Step, ...]:
    """To the list of reviews, filtered."""
    return Click("link", "Catalog"), Click("link", "Reviews"), *filters, Click("button", "Apply Filters")


@lru_cache(maxsize=64)
def orders_with(world: World, *statuses: str) -> tuple[Row, ...]:
    """Every order that has one of the statuses, by id."""
    marks = ",".join("?" * len(statuses))
    return tuple(world.rows(f"SELECT * FROM sales_order WHERE status IN ({marks}) ORDER BY id", *statuses))


def some_order(world: World, rng: random.Random, *statuses: str) -> Row:
    """One of them."""
    return rng.choice(orders_with(world, *statuses))


def order_of(world: World, params: Params) -> Row:
    """The order that the slot `order` names."""
    return world.row("SELECT * FROM sales_order WHERE number = ?", params["order"])


def next_number(world: World, table: str) -> str:
    """The number of the next document."""
    return f"{int(world.value(f'SELECT max(number) FROM {table}')) + 1:09d}"


def paid(world: World, order: Row) -> int:
    """Cents that were invoiced and not refunded."""
    invoiced: int = world.value("SELECT coalesce(sum(total_cents), 0) FROM invoice WHERE order_id = ?", order["id"])
    return max(0, invoiced - int(order["refunded_cents"]))
