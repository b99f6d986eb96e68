"""What is sold, and what is wished for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

PATH = " › "
"""Between the parts of a product's category."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """What a buyer wrote."""

    title: str
    score: int
    """Stars, 1 to 5."""
    body: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Product:
    """One thing of the catalogue."""

    asin: str
    title: str
    query: str
    """The search that it belongs to; products of one query are of one kind."""
    category: str
    """Broadest first, joined by `PATH`."""
    price: float
    price_tag: str
    """As it is shown: `$23.99`, `$10.0 to $12.5`."""
    rating: str = "N.A."
    attributes: tuple[str, ...] = ()
    """Never shown; what the reward asks for."""
    options: Mapping[str, tuple[str, ...]]
    """Name to values, in lower case."""
    sold_out: frozenset[str] = frozenset()
    """Values that are shown and cannot be chosen."""
    description: str = ""
    features: tuple[str, ...] = ()
    reviews: tuple[Review, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """As JSON values, for the catalogue."""
        return {
            "asin": self.asin,
            "title": self.title,
            "query": self.query,
            "category": self.category,
            "price": self.price,
            "price_tag": self.price_tag,
            "rating": self.rating,
            "attributes": list(self.attributes),
            "options": {name: list(values) for name, values in self.options.items()},
            "sold_out": sorted(self.sold_out),
            "description": self.description,
            "features": list(self.features),
            "reviews": [[r.title, r.score, r.body] for r in self.reviews],
        }

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> Product:
        """What `to_json` gave."""
        return cls(
            **{
                **row,
                "attributes": tuple(row["attributes"]),
                "options": {name: tuple(values) for name, values in row["options"].items()},
                "sold_out": frozenset(row["sold_out"]),
                "features": tuple(row["features"]),
                "reviews": tuple(Review(title=t, score=s, body=b) for t, s, b in row["reviews"]),
            }
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """What a purchase is measured against."""

    name: str
    """Title of the product that was meant."""
    query: str
    category: str
    attributes: tuple[str, ...]
    options: tuple[str, ...]
    """Values alone."""
    price_upper: float | None
    """In dollars; None: any price."""

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> Goal:
        """The part of a task's payload that a purchase is measured against."""
        return cls(
            name=row["name"],
            query=row["query"],
            category=row["category"],
            attributes=tuple(row["attributes"]),
            options=tuple(row["options"].values()),
            price_upper=row["price_upper"],
        )
