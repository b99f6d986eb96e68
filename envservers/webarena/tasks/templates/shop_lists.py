"""Lists of products: the first in an order, how many a filter leaves, and pages to stand on."""

from __future__ import annotations

import random
from collections import Counter
from functools import lru_cache
from typing import Any

from envservers.webarena.evaluators.answer import Answer
from envservers.webarena.evaluators.combine import TaskKind
from envservers.webarena.evaluators.evidence import Check
from envservers.webarena.evaluators.url import Url
from envservers.webarena.tasks import facts
from envservers.webarena.tasks.plan import Choose, Click, Fill, Plan, Read, Stop
from envservers.webarena.tasks.reading import matching
from envservers.webarena.tasks.template import Params, Template
from envservers.webarena.tasks.templates.shop_steps import (
    HOST,
    SEARCH,
    first_card,
    said,
    search_for,
    some_product,
    sort_by,
    walk_down,
)
from envservers.webarena.world.world import World

FACETS = 10
"""Brands that a list offers as filters, those with the most products."""
FILTERS = ("price", "brand", "rating", "stock", "page")
"""What narrows a list, by the names in its address."""


@lru_cache(maxsize=512)
def on_sale(world: World, where: str, *values: int | str) -> tuple[tuple[int, str, int], ...]:
    """Unit price in cents, name and id of every product on sale for which a condition holds."""
    percents = facts.rule_percents(world)
    rows = world.rows(
        "SELECT product.id, product.name, category_id, price_cents, special_cents FROM product "
        f"JOIN brand ON brand.id = brand_id WHERE status = 'enabled' AND {where} ORDER BY product.id",
        *values,
    )
    return tuple(
        (
            facts.unit_cents(row["price_cents"], row["special_cents"], percents.get(row["category_id"], 0)),
            row["name"],
            row["id"],
        )
        for row in rows
    )


def some_leaf(world: World, rng: random.Random, least: int = 3) -> tuple[int, list[str]] | None:
    """A category with at least so many products, and the names on the way to it."""
    leaf = some_product(world, rng).category_id
    return (
        (leaf, list(facts.category_path(world, leaf)))
        if len(on_sale(world, "category_id = ?", leaf)) >= least
        else None
    )


def _leaf_of(world: World, path: list[str]) -> int:
    leaves = {p.category_id for p in facts.products(world)}
    return next(leaf for leaf in sorted(leaves) if list(facts.category_path(world, leaf)) == path)


def _slug_of(world: World, path: list[str]) -> str:
    slug: str = world.value("SELECT slug FROM category WHERE id = ?", _leaf_of(world, path))
    return slug


def _where(path: list[str]) -> str:
    return " > ".join(path)


def _cheapest(world: World, rng: random.Random) -> dict[str, Any] | None:
    found = some_leaf(world, rng)
    if found is None:
        return None
    prices = sorted(on_sale(world, "category_id = ?", found[0]))
    if prices[0][0] == prices[1][0] or len(prices[0][1]) > facts.LONGEST_NAME:
        return None
    return {"path": found[1], "category": _where(found[1])}


def _expect_cheapest(world: World, params: Params) -> tuple[Check, ...]:
    prices = sorted(on_sale(world, "category_id = ?", _leaf_of(world, params["path"])))
    return (Answer(type="text", values=(prices[0][1],)),)


CHEAPEST = Template(
    name="shop.cheapest_of_category",
    family="first of a list",
    kind=TaskKind.RETRIEVE,
    phrasings=(
        'What is the name of the cheapest product in the category "{category}"? Answer with its full name only.',
        'In "{category}", which product costs least at the moment? Give the exact product name.',
        'Find the lowest-priced item of the category "{category}" and reply with its name as the shop writes it.',
        'Name the product with the smallest price under "{category}". Only the name, please.',
        'I am on a budget: which article of "{category}" is the least expensive? The precise name is enough.',
    ),
    generate=_cheapest,
    expect=_expect_cheapest,
    plan=lambda params: (
        *walk_down(params["path"]),
        *sort_by("Price: low to high"),
        Read("name", first_card),
        Stop(said("name")),
    ),
    extra=3,
)


def _dearest(world: World, rng: random.Random) -> dict[str, Any] | None:
    brand = some_product(world, rng)
    prices = sorted(on_sale(world, "brand.slug = ?", brand.brand_slug), reverse=True)
    if len(prices) < 3 or prices[0][0] == prices[1][0] or len(prices[0][1]) > facts.LONGEST_NAME:
        return None
    return {"brand": brand.brand}


def _expect_dearest(world: World, params: Params) -> tuple[Check, ...]:
    prices = sorted(on_sale(world, "brand.name = ?", params["brand"]), reverse=True)
    return (Answer(type="text", values=(prices[0][1],)),)


DEAREST = Template(
    name="shop.dearest_of_brand",
    family="first of a list",
    kind=TaskKind.RETRIEVE,
    phrasings=(
        "Which product of the brand {brand} is the most expensive one? Answer with its full name only.",
        "Look through everything that {brand} makes and give me the exact name of the dearest product.",
        "What is the name of the highest-priced article by {brand} in the shop?",
        "Among the products of {brand}, name the one with the largest price. Just the name.",
        "I want the priciest thing that the maker {brand} sells here. What is it called, exactly?",
    ),
    generate=_dearest,
    expect=_expect_dearest,
    plan=lambda params: (
        Click("link", "Brands"),
        Click("link", params["brand"]),
        *sort_by("Price: high to low"),
        Read("name", first_card),
        Stop(said("name")),
    ),
    extra=6,
    held_out=True,
)


@lru_cache(maxsize=64)
def _brands_of(world: World, department: str) -> dict[str, int]:
    """How many products of each brand a department sells, for the brands that it offers as filters."""
    rows = world.rows(
        "SELECT brand.name, category_id FROM product JOIN brand ON brand.id = brand_id WHERE status = 'enabled' "
        "ORDER BY product.id"
    )
    here = (row["name"] for row in rows if facts.category_path(world, row["category_id"])[0] == department)
    ranked = sorted(Counter(here).items(), key=lambda pair: (-pair[1], pair[0]))
    return dict(ranked[:FACETS])


def _brand_count(world: World, rng: random.Random) -> dict[str, Any]:
    department = facts.category_path(world, some_product(world, rng).category_id)[0]
    return {"department": department, "brand": rng.choice(list(_brands_of(world, department)))}


def _expect_brand_count(world: World, params: Params) -> tuple[Check, ...]:
    count = _brands_of(world, params["department"])[params["brand"]]
    return (Answer(type="number", values=(str(count),)),)


BRAND_COUNT = Template(
    name="shop.brand_count",
    family="count of a list",
    kind=TaskKind.RETRIEVE,
    phrasings=(
        "How many products of {brand} are there in the department {department}? Answer with a number.",
        "Count what the shop offers from the maker {brand} under {department}. Digits only.",
        "In {department}, how many articles come from {brand}?",
        "Tell me the number of {brand} products that the department {department} lists.",
        "What is the size of the range that {brand} has in {department}? A number will do.",
    ),
    generate=_brand_count,
    expect=_expect_brand_count,
    plan=lambda params: (
        Click("link", params["department"]),
        Click("link", f"{params['brand']} (", starts=True),
        Read("count", matching(r"(?:Items \d+ to \d+ of )?(\d+)(?: items?)?", role="StaticText")),
        Stop(said("count")),
    ),
    extra=3,
)

ORDERS = (
    ("price_asc", "Price: low to high", "from the lowest price to the highest"),
    ("price_desc", "Price: high to low", "from the highest price to the lowest"),
    ("rating", "Customer rating", "by customer rating"),
    ("newest", "Newest first", "with the newest products first"),
    ("name", "Name: A to Z", "by name from A to Z"),
)


def _sorted(world: World, rng: random.Random) -> dict[str, Any] | None:
    found = some_leaf(world, rng)
    if found is None:
        return None
    value, label, words = rng.choice(ORDERS)
    return {"path": found[1], "category": _where(found[1]), "sort": value, "label": label, "order": words}


def _expect_sorted(world: World, params: Params) -> tuple[Check, ...]:
    path = f"/c/{_slug_of(world, params['path'])}"
    return (Url(host=HOST, path=path, query=(("sort", params["sort"]), ("per", "48")), without=FILTERS),)


SORTED = Template(
    name="shop.show_category_sorted",
    family="page of a list",
    kind=TaskKind.NAVIGATE,
    phrasings=(
        'Show me the category "{category}", ordered {order}, 48 products a page.',
        'Open "{category}", sort its products {order} and have 48 of them on a page.',
        'I would like to see "{category}" arranged {order}, with 48 products per page.',
        'Bring up the products of "{category}", listed {order} and 48 at a time.',
        'Please display everything in "{category}" {order}; set the page size to 48.',
    ),
    generate=_sorted,
    expect=_expect_sorted,
    plan=lambda params: (
        *walk_down(params["path"]),
        Choose("Sort by", params["label"]),
        Choose("Show per page", "48"),
        Click("button", "Apply"),
        Stop(),
    ),
)


def _searched(world: World, rng: random.Random) -> dict[str, Any] | None:
    term = rng.choice(world.rows("SELECT term, results FROM search_term WHERE results BETWEEN 3 AND 60 ORDER BY id"))[
        "term"
    ]
    brands = world.column("SELECT name FROM brand ORDER BY id")
    if any(word.casefold() in term.casefold() for word in brands):
        return None
    return {"term": term}


def _expect_searched(world: World, params: Params) -> tuple[Check, ...]:
    return (
        Url(
            host=HOST,
            path="/search",
            query=(("q", params["term"]), ("stock", "in")),
            without=("price", "brand", "rating", "page"),
        ),
    )


SEARCHED = Template(
    name="shop.show_search_in_stock",
    family="page of a list",
    kind=TaskKind.NAVIGATE,
    phrasings=(
        'Search the shop for "{term}" and leave only what is in stock.',
        'Show me the search results for "{term}", limited to products in stock.',
        'I am looking for "{term}". Search for exactly that and hide what is sold out with the filter.',
        'Do a search for "{term}" and narrow it to available products.',
        'Bring up what the search finds for "{term}", in-stock items only.',
    ),
    generate=_searched,
    expect=_expect_searched,
    plan=lambda params: (
        Fill(SEARCH, params["term"], enter=True),
        Click("link", "In stock (", starts=True),
        Stop(),
    ),
    extra=2,
)


def _low_reviews(world: World, rng: random.Random) -> dict[str, Any] | None:
    product = some_product(world, rng)
    total = world.value("SELECT count(*) FROM review WHERE product_id = ? AND status = 'approved'", product.id)
    return {"product": product.name} if total >= 2 else None


def _expect_low_reviews(world: World, params: Params) -> tuple[Check, ...]:
    slug = next(p.slug for p in facts.products(world) if p.name == params["product"])
    return (Url(host=HOST, path=f"/p/{slug}/reviews", query=(("sort", "lowest"),), without=("stars", "page")),)


def _plan_low_reviews(params: Params) -> Plan:

    return (
        *search_for(params["product"]),
        Click("link", "Reviews (", starts=True),
        Choose("Sort reviews by", "Lowest rating"),
        Click("button", "Sort"),
        Stop(),
    )


LOW_REVIEWS = Template(
    name="shop.show_lowest_reviews",
    family="page of a product",
    kind=TaskKind.NAVIGATE,
    phrasings=(
        'Open the reviews of "{product}", the lowest ratings first.',
        'Show me what customers wrote about "{product}", beginning with the worst ratings.',
        'Go to the review page of "{product}" and sort it so that the lowest rating comes first.',
        'I want to read all reviews of "{product}" from the most critical one on; order them by lowest rating.',
        'Display the customer reviews for "{product}" in order of rating, worst on top.',
    ),
    generate=_low_reviews,
    expect=_expect_low_reviews,
    plan=_plan_low_reviews,
    extra=3,
)

TEMPLATES = (CHEAPEST, DEAREST, BRAND_COUNT, SORTED, SEARCHED, LOW_REVIEWS)
