"""Facts of one product: price, specification, reviews."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from envservers.webarena.evaluators.answer import Answer
from envservers.webarena.evaluators.combine import TaskKind
from envservers.webarena.evaluators.evidence import Check
from envservers.webarena.tasks import facts
from envservers.webarena.tasks.observed import Line, below
from envservers.webarena.tasks.plan import Click, Fill, Gather, Page, Plan, Read, Stop
from envservers.webarena.tasks.reading import after, matching, money_after
from envservers.webarena.tasks.template import Params, Template
from envservers.webarena.tasks.templates.shop_steps import SEARCH, by_name, listed, said, search_for, some_product
from envservers.webarena.world.world import World


def _price(world: World, rng: random.Random) -> dict[str, Any]:
    return {"product": some_product(world, rng).name}


def _expect_price(world: World, params: Params) -> tuple[Check, ...]:
    return (Answer(type="money", values=(facts.dollars(by_name(world, params).unit_cents),)),)


def _plan_price(params: Params) -> Plan:
    return (
        Fill(SEARCH, params["product"], enter=True),
        Page("link", params["product"]),
        Read("price", money_after(params["product"], role="link")),
        Stop(said("price")),
    )


PRICE = Template(
    name="shop.product_price",
    family="product fact",
    kind=TaskKind.RETRIEVE,
    phrasings=(
        'What does the product "{product}" cost right now? Answer with the price alone.',
        'I would like to know the current price of "{product}". Give me just the amount.',
        'How much is "{product}" today? Reply with the amount and nothing else.',
        'Look up "{product}" in the shop and tell me the price that is asked for it, as an amount.',
        'Which price would I pay for one "{product}"? Only the number in dollars, please.',
    ),
    generate=_price,
    expect=_expect_price,
    plan=_plan_price,
    extra=1,
)


def _spec(world: World, rng: random.Random) -> dict[str, Any] | None:
    product = some_product(world, rng)
    specs = world.rows("SELECT name, value FROM product_spec WHERE product_id = ? ORDER BY position", product.id)
    told = product.name.casefold()  # a name such as "720p camera" would give the answer away
    hidden = [row["name"] for row in specs if row["value"].casefold() not in told]
    return {"product": product.name, "spec": rng.choice(hidden)} if hidden else None


def _expect_spec(world: World, params: Params) -> tuple[Check, ...]:
    value = world.value(
        "SELECT value FROM product_spec WHERE product_id = ? AND name = ?",
        *(by_name(world, params).id, params["spec"]),
    )
    return (Answer(type="text", values=(value,)),)


def _plan_spec(params: Params) -> Plan:
    return (
        *search_for(params["product"]),
        Click("link", "Specifications"),
        Read("value", after(params["spec"], role="rowheader")),
        Stop(said("value")),
    )


SPEC = Template(
    name="shop.product_spec",
    family="product fact",
    kind=TaskKind.RETRIEVE,
    phrasings=(
        'What is given as "{spec}" in the specifications of "{product}"? Answer with the value as it is written there.',
        'Look at the specifications of "{product}" and tell me the entry for "{spec}", word for word.',
        'I need the "{spec}" of "{product}". Copy the value from its table of specifications.',
        'According to the shop, which "{spec}" does "{product}" have? Give the entry exactly as it stands.',
        'For "{product}", report what its data sheet says under "{spec}", in the same words.',
    ),
    generate=_spec,
    expect=_expect_spec,
    plan=_plan_spec,
    extra=2,
)


def _stars(world: World, rng: random.Random) -> dict[str, Any] | None:
    product = some_product(world, rng)
    stars = rng.randint(1, 5)
    total = world.value("SELECT count(*) FROM review WHERE product_id = ? AND status = 'approved'", product.id)
    return {"product": product.name, "stars": f"{stars} star{'s' * (stars > 1)}"} if total >= 3 else None


def _expect_stars(world: World, params: Params) -> tuple[Check, ...]:
    number = world.value(
        "SELECT count(*) FROM review WHERE product_id = ? AND status = 'approved' AND stars = ?",
        *(by_name(world, params).id, int(params["stars"][0])),
    )
    return (Answer(type="number", values=(str(number),)),)


def _plan_stars(params: Params) -> Plan:
    return (
        *search_for(params["product"]),
        Click("link", "Reviews (", starts=True),
        Read("count", matching(rf"{params['stars']} \((\d+)\)", role="link")),
        Stop(said("count")),
    )


STARS = Template(
    name="shop.review_count",
    family="product reviews counted",
    kind=TaskKind.RETRIEVE,
    phrasings=(
        'How many customer reviews of "{product}" gave {stars}? Answer with a number.',
        'Count the published reviews that rate "{product}" with exactly {stars}. A number is enough.',
        'Tell me how many reviews with {stars} "{product}" has.',
        'Of all the reviews on the page of "{product}", how many have {stars}? Give the count alone.',
        'What is the count of reviews with {stars} for "{product}"? Reply with digits.',
    ),
    generate=_stars,
    expect=_expect_stars,
    plan=_plan_stars,
    extra=2,
)


def _critics(world: World, rng: random.Random) -> dict[str, Any] | None:
    product = some_product(world, rng)
    titles = _low_titles(world, product.id)
    distinct = len({title.casefold() for title in titles}) == len(titles)
    plain = not any(";" in title or "\n" in title for title in titles)
    return {"product": product.name} if 1 <= len(titles) <= 6 and distinct and plain else None


def _low_titles(world: World, product_id: int) -> list[str]:
    return world.column(
        "SELECT title FROM review WHERE product_id = ? AND status = 'approved' AND stars = 1 ORDER BY id", product_id
    )


def _expect_critics(world: World, params: Params) -> tuple[Check, ...]:
    titles = _low_titles(world, by_name(world, params).id)
    return (Answer(type="text", values=tuple(titles), many=True),)


def _plan_critics(params: Params) -> Plan:
    return (
        *search_for(params["product"]),
        Click("link", "Reviews (", starts=True),
        Click("link", "1 star (", starts=True),
        Gather("titles", _review_titles),
        Stop(listed("titles")),
    )


def _review_titles(lines: Sequence[Line]) -> list[str]:
    """Headings of the third level inside articles."""
    inner = (below(lines, place) for place, line in enumerate(lines) if line.role == "article")
    return [line.name for part in inner for line in part if line.role == "heading"]


CRITICS = Template(
    name="shop.one_star_titles",
    family="product reviews listed",
    kind=TaskKind.RETRIEVE,
    phrasings=(
        'List the titles of all reviews that gave "{product}" a single star. Separate them by semicolons.',
        'Which titles do the one-star reviews of "{product}" have? Write them out, with semicolons between them.',
        'I want to know what the harshest critics (1 star) of "{product}" wrote as titles; list each, split by ";".',
        'Give me the headline of every 1-star review of "{product}", separated by semicolons.',
        'Collect the summaries of the reviews with one star for "{product}". Use semicolons to separate them.',
    ),
    generate=_critics,
    expect=_expect_critics,
    plan=_plan_critics,
    extra=3,
)

TEMPLATES = (PRICE, SPEC, STARS, CRITICS)
