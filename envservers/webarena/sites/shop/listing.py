"""Filters, facets and order of a list of products. Pure functions over items."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from envservers.webarena.sites.shop.catalogue import Item

PER_PAGE = (12, 24, 48)
BRANDS_SHOWN = 10
PRICE_STEPS = (0, 25, 50, 100, 250)
"""Whole units; the last range is open."""

ORDERS: dict[str, tuple[str, Callable[[Item], tuple[object, ...]]]] = {
    "popular": ("Most popular", lambda item: (-item.popularity, item.id)),
    "price_asc": ("Price: low to high", lambda item: (item.price.unit, item.name, item.id)),
    "price_desc": ("Price: high to low", lambda item: (-item.price.unit, item.name, item.id)),
    "rating": ("Customer rating", lambda item: (-item.stars, -item.reviews, item.id)),
    "newest": ("Newest first", lambda item: (item.created_at, item.id)),
    "name": ("Name: A to Z", lambda item: (item.name.lower(), item.id)),
}
Facet = list[tuple[str, str, int]]
"""Value in the query, text, how many products."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """What is left of a list, in order, and what else one may choose."""

    items: list[Item]
    order: str
    facets: list[tuple[str, str, Facet]]
    """Title, name in the query, choices."""
    more_brands: int
    """How many brands the facet leaves out until all are asked for."""


def arrange(found: Sequence[Item], asked: Mapping[str, str], *, best: str = "popular") -> Listing:
    """Filter and order by a query's values; a value that means nothing filters nothing.

    `best` is the order unless another is asked; `relevance` keeps that of `found`.
    """
    tests = {name: test for name in _TESTS if (test := _TESTS[name](asked.get(name, "")))}
    order = asked.get("sort", "")
    order = order if order in ORDERS else best
    kept = _kept(found, tests, "")
    if order in ORDERS:
        kept.sort(key=ORDERS[order][1], reverse=order == "newest")
    brands = len({item.brand_slug for item in _kept(found, tests, "brand")})
    shown = brands if asked.get("brands") == "all" else BRANDS_SHOWN
    facets = [
        (title, name, choices)
        for title, name, count in _FACETS
        if (choices := count(_kept(found, tests, name), asked.get(name, ""), shown))
    ]
    return Listing(items=kept, order=order, facets=facets, more_brands=max(0, brands - shown))


def _kept(found: Sequence[Item], tests: Mapping[str, Callable[[Item], bool]], without: str) -> list[Item]:
    used = [test for name, test in tests.items() if name != without]
    return [item for item in found if all(test(item) for test in used)]


def _price_test(value: str) -> Callable[[Item], bool] | None:
    low, dash, high = value.partition("-")
    if not dash or not all(part.isdecimal() and part.isascii() and len(part) < 8 for part in (low, high) if part):
        return None
    least, most = int(low or 0) * 100, int(high) * 100 if high else None
    return lambda item: item.price.unit >= least and (most is None or item.price.unit < most)


def _rating_test(value: str) -> Callable[[Item], bool] | None:
    return (lambda item: item.stars >= int(value)) if value in ("4", "3", "2") else None


_TESTS: dict[str, Callable[[str], Callable[[Item], bool] | None]] = {
    "price": _price_test,
    "brand": lambda value: (lambda item: item.brand_slug == value) if value else None,
    "rating": _rating_test,
    "stock": lambda value: (lambda item: item.stock > 0) if value == "in" else None,
}


def _prices(found: Sequence[Item], chosen: str, most: int) -> Facet:
    choices: Facet = []
    for place, low in enumerate(PRICE_STEPS):
        high = PRICE_STEPS[place + 1] if place + 1 < len(PRICE_STEPS) else None
        number = sum(low * 100 <= item.price.unit and (high is None or item.price.unit < high * 100) for item in found)
        text = f"Under ${high}" if not low else f"${low} to ${high}" if high else f"${low} and up"
        if number:
            choices.append((f"{low}-{high or ''}", text, number))
    if chosen and _price_test(chosen) and chosen not in [value for value, _, _ in choices]:
        low_text, _, high_text = chosen.partition("-")
        choices.insert(0, (chosen, f"${low_text or 0} to ${high_text}" if high_text else f"${low_text} and up", 0))
    return choices


def _brands(found: Sequence[Item], chosen: str, most: int) -> Facet:
    counts = Counter((item.brand_slug, item.brand) for item in found)
    ranked = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0][1]))
    shown = [pair for place, pair in enumerate(ranked) if place < most or pair[0][0] == chosen]
    return [(slug, name, number) for (slug, name), number in sorted(shown, key=lambda pair: pair[0][1])]


def _ratings(found: Sequence[Item], chosen: str, most: int) -> Facet:
    counts = [(least, sum(item.stars >= least for item in found)) for least in (4, 3, 2)]
    return [(str(least), f"{least} stars and up", number) for least, number in counts if number]


def _stocks(found: Sequence[Item], chosen: str, most: int) -> Facet:
    number = sum(item.stock > 0 for item in found)
    return [("in", "In stock", number)] if number or chosen == "in" else []


_FACETS: tuple[tuple[str, str, Callable[[Sequence[Item], str, int], Facet]], ...] = (
    ("Price", "price", _prices),
    ("Brand", "brand", _brands),
    ("Rating", "rating", _ratings),
    ("Availability", "stock", _stocks),
)
