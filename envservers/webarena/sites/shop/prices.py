"""What a product costs today. The one place that says so.

Asked price = the lowest of the list price, the special price, and the list price less the best price rule in force.
A rule is in force when it is active, today lies in its days, and its category is empty or the product's or above it.
The discount of a customer's group belongs to the basket, not to the product: `world/totals.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from envservers.webarena.state.database import Db
from envservers.webarena.world.totals import percent_of


class Price(NamedTuple):
    """In cents."""

    list: int
    unit: int
    """What is asked; below `list` on sale."""


def price_of(price_cents: int, special_cents: int | None, percent: int = 0) -> Price:
    """`percent`: of the best rule in force."""
    asked = price_cents - percent_of(price_cents, percent)
    if special_cents is not None:
        asked = min(asked, special_cents)
    return Price(price_cents, min(asked, price_cents))


class Rules:
    """The rules in force on a day, by category."""

    def __init__(self, db: Db, today: str) -> None:
        rules = db.all(
            "SELECT category_id, percent FROM price_rule WHERE active AND starts_on <= ? AND ends_on >= ?", today, today
        )
        self._by_category: dict[int | None, int] = {}
        for category_id, percent in rules:
            self._by_category[category_id] = max(percent, self._by_category.get(category_id, 0))
        self._parents: Mapping[int, int | None] = {}
        if any(category_id is not None for category_id in self._by_category):
            self._parents = {row[0]: row[1] for row in db.all("SELECT id, parent_id FROM category")}

    def percent(self, category_id: int | None) -> int:
        """Of the best rule for products of a category."""
        if not self._by_category:
            return 0
        best = self._by_category.get(None, 0)
        while category_id is not None and self._parents:
            best = max(best, self._by_category.get(category_id, 0))
            category_id = self._parents[category_id]
        return best
