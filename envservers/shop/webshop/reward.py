"""The reward of a purchase, by WebShop's formula (Yao et al. 2022, "WebShop", section 3.2 and appendix).

reward = type x (attributes hit + options hit + price ok) / (attributes + options + 1)

A goal without a price limit has no price term, neither above nor below.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from envservers.shop.webshop.matching import alike, nouns
from envservers.shop.webshop.products import PATH, Goal, Product


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """A purchase against a goal."""

    type: float
    """1, 0.5, 0.1 or 0: whether it is the kind of product that was meant."""
    attributes: int
    options: int
    price: bool
    """True also of a goal without a limit."""
    wanted: int
    """Terms of the fraction."""
    hit: int

    @property
    def reward(self) -> float:
        """0 to 1."""
        return self.type * self.hit / self.wanted if self.wanted else self.type

    @property
    def success(self) -> bool:
        """Everything is right."""
        return self.type == 1.0 and self.hit == self.wanted


def score(product: Product, chosen: Mapping[str, str], goal: Goal) -> Score:
    """What buying `product` with the options `chosen` (name to value) is worth."""
    attributes = sum(attribute_hit(product, wanted) for wanted in goal.attributes)
    options = sum(any(alike(value, wanted) for value in chosen.values()) for wanted in goal.options)
    price = goal.price_upper is None or product.price <= goal.price_upper
    limited = goal.price_upper is not None
    return Score(
        type=type_factor(product, goal),
        attributes=attributes,
        options=options,
        price=price,
        wanted=len(goal.attributes) + len(goal.options) + limited,
        hit=attributes + options + (price and limited),
    )


def type_factor(product: Product, goal: Goal) -> float:
    """By the share of the meant title's nouns that the bought one has, and by query and category."""
    wanted = nouns(goal.name)
    share = len(wanted & nouns(product.title)) / len(wanted) if wanted else 0.2
    if share == 0.0:
        return 0.0
    if share < 0.1:
        return 0.1
    same = product.query == goal.query or len(_parts(product.category) & _parts(goal.category)) >= 2
    return 1.0 if same or share > 0.2 else 0.5


def attribute_hit(product: Product, wanted: str) -> bool:
    """Whether the product has an attribute like it, or says it in title, features or description."""
    if any(alike(attribute, wanted) for attribute in product.attributes):
        return True
    return any(wanted in text.lower() for text in (product.title, " ".join(product.features), product.description))


def _parts(category: str) -> set[str]:
    return {part.strip() for part in category.split(PATH.strip())}
