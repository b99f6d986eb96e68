"""How big a world is. Towns, people and companies are the same in every size."""

from __future__ import annotations

from dataclasses import dataclass

VERSION = "1"
"""Of the generator: another world for the same seed means another version. Part of every seed and of every path."""

STARTS_AT = "2026-03-02 09:00:00"
DAYS = 730
"""The shop's history before `STARTS_AT`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """Numbers of rows; what is not here follows from them."""

    name: str
    departments: int
    """Of the first categories in the grammar's order."""
    groups: int
    """At most, of each department."""
    leaves: int
    """At most, of each group."""
    products: int
    brands: int
    customers: int
    orders: int
    order_lines: int
    reviews: int
    coupons: int
    main_orders: int
    """Orders of customer 1."""
    search_terms: int


SIZES = {
    size.name: size
    for size in (
        Size(
            name="small",
            departments=5,
            groups=1,
            leaves=3,
            products=120,
            brands=30,
            customers=40,
            orders=350,
            order_lines=1100,
            reviews=600,
            coupons=14,
            main_orders=26,
            search_terms=40,
        ),
        Size(
            name="medium",
            departments=99,
            groups=99,
            leaves=99,
            products=1200,
            brands=45,
            customers=400,
            orders=3500,
            order_lines=11000,
            reviews=6000,
            coupons=40,
            main_orders=44,
            search_terms=300,
        ),
    )
}
