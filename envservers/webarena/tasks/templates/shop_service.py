"""Contact, newsletter and new accounts; and what visitors look up in lists that the shop keeps."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from functools import lru_cache
from sqlite3 import Row
from typing import Any

from envservers.webarena.evaluators.answer import Answer
from envservers.webarena.evaluators.combine import TaskKind
from envservers.webarena.evaluators.database import Allow, Database, Insert
from envservers.webarena.evaluators.evidence import Check
from envservers.webarena.evaluators.form import Form
from envservers.webarena.evaluators.log import Request
from envservers.webarena.evaluators.status import Unachievable
from envservers.webarena.evaluators.url import Url
from envservers.webarena.evaluators.values import Matcher
from envservers.webarena.tasks import facts, wording
from envservers.webarena.tasks.facts import SHOPPER
from envservers.webarena.tasks.observed import Line
from envservers.webarena.tasks.plan import Choose, Click, Fill, Gather, Plan, Read, Step, Stop
from envservers.webarena.tasks.reading import matching
from envservers.webarena.tasks.template import Params, Template
from envservers.webarena.tasks.templates.shop_lists import FACETS, FILTERS, on_sale
from envservers.webarena.tasks.templates.shop_orders import my_orders
from envservers.webarena.tasks.templates.shop_steps import (
    HOST,
    SEARCH,
    by_name,
    said,
    search_for,
    some_product,
)
from envservers.webarena.world.world import World

SUBJECTS = ("My order", "A product", "Delivery", "Something else")


def _message(world: World, rng: random.Random) -> dict[str, Any]:
    order = rng.choice(my_orders(world))["number"]
    return {"subject": rng.choice(SUBJECTS), "order": order, "body": wording.message(rng)}


def _me(world: World) -> Row:
    return world.row("SELECT * FROM customer WHERE id = ?", SHOPPER)


def _expect_message(world: World, params: Params) -> tuple[Check, ...]:
    me = _me(world)
    values: dict[str, Matcher] = {
        "name": f"{me['first_name']} {me['last_name']}",
        "email": me["email"],
        "subject": params["subject"],
        "order_number": params["order"],
        "body": params["body"],
    }
    sent = Allow(table="contact_message", column="created_at", reason="the moment at which it was sent")
    return (Database(inserts=(Insert(table="contact_message", values=values),), allow=(sent,)),)


def _fill_message(params: Params) -> tuple[Step, ...]:
    return (
        Click("link", "Contact us"),
        Choose("Subject", params["subject"]),
        Fill("Order number (optional)", params["order"]),
        Fill("Message", params["body"]),
    )


MESSAGE = Template(
    name="shop.send_message",
    family="message sent",
    kind=TaskKind.MUTATE,
    phrasings=(
        'Write to the shop by its contact form. Subject "{subject}", order number {order}, message: "{body}" Name and '
        "e-mail are those of my account.",
        'Send the shop this message with the subject "{subject}" about order {order}: "{body}" Keep my name and e-mail '
        "as filled in.",
        'Contact the shop concerning order {order} ("{subject}"). My words: "{body}" Use the name and address that the '
        "form suggests.",
        'Use the contact page to say "{body}" Choose "{subject}" as the subject and mention order number {order}.',
        'Please submit the contact form for me: subject {subject}; order number {order}; message "{body}"',
    ),
    generate=_message,
    expect=_expect_message,
    plan=lambda params: (*_fill_message(params), Click("button", "Submit"), Stop()),
    extra=4,
)


def _prepared(world: World, rng: random.Random) -> dict[str, Any]:
    first, last = wording.full_name(rng)
    return _message(world, rng) | {"name": f"{first} {last}", "email": wording.email(rng)}


def _expect_prepared(world: World, params: Params) -> tuple[Check, ...]:
    fields = (
        ("Name", params["name"]),
        ("Email", params["email"]),
        ("Subject", params["subject"]),
        ("Order number (optional)", params["order"]),
        ("Message", params["body"]),
    )
    return (Form(fields=fields), Url(host=HOST, path="/contact"))


PREPARED = Template(
    name="shop.prepare_message",
    family="contact form filled in",
    kind=TaskKind.FILL,
    phrasings=(
        'Fill in the contact form for {name} ({email}) without sending it: subject "{subject}", order number {order}, '
        'message "{body}"',
        'Prepare a message to the shop from {name} ({email}): "{subject}", order {order}, "{body}" Do not submit.',
        "Get the contact form ready for {name} at {email}. Subject: {subject}. Order number: {order}. Message: "
        '"{body}" Leave it unsent.',
        "I want to see the contact form filled in before it goes off. Name {name}, e-mail {email}, subject {subject}, "
        'order number {order}, text "{body}"',
        'Type this into the contact form and stop there: {name}; {email}; {subject}; order {order}; "{body}"',
    ),
    generate=_prepared,
    expect=_expect_prepared,
    plan=lambda params: (*_fill_message(params), Fill("Name", params["name"]), Fill("Email", params["email"]), Stop()),
    extra=5,
    held_out=True,
)


def _reader(world: World, rng: random.Random) -> dict[str, Any]:
    return {"email": wording.email(rng)}


def _expect_reader(world: World, params: Params) -> tuple[Check, ...]:
    now = Allow(table="subscriber", column="created_at", reason="the moment of the subscription")
    return (Database(inserts=(Insert(table="subscriber", values={"email": params["email"]}),), allow=(now,)),)


SUBSCRIBE = Template(
    name="shop.subscribe",
    family="newsletter joined",
    kind=TaskKind.MUTATE,
    account="",
    phrasings=(
        "Subscribe {email} to the shop's newsletter. There is no account for it and none is needed.",
        "I would like the shop to send its newsletter to {email}.",
        "Sign {email} up for the newsletter, without registering.",
        "Get the address {email} onto the list of newsletter readers.",
        "The newsletter should reach {email} in the future; see to that.",
    ),
    generate=_reader,
    expect=_expect_reader,
    plan=lambda params: (
        Click("link", "Newsletter"),
        Fill("Email", params["email"]),
        Click("button", "Subscribe"),
        Stop(),
    ),
    extra=2,
)


def _member(world: World, rng: random.Random) -> dict[str, Any]:
    first, last = wording.full_name(rng)
    return {"first": first, "last": last, "email": wording.email(rng), "password": wording.password(rng)}


def _expect_member(world: World, params: Params) -> tuple[Check, ...]:
    values: dict[str, Matcher] = {
        "email": params["email"],
        "password": params["password"],
        "first_name": params["first"],
        "last_name": params["last"],
        "phone": "",
        "group_id": 1,
        "newsletter": 0,
        "active": 1,
    }
    now = Allow(table="customer", column="created_at", reason="the moment of the registration")
    return (Database(inserts=(Insert(table="customer", values=values),), allow=(now,)),)


REGISTER = Template(
    name="shop.register",
    family="account made",
    kind=TaskKind.MUTATE,
    account="",
    phrasings=(
        "Create an account in the shop for {first} {last}, e-mail {email}, password {password}, without newsletter.",
        "Register {first} {last} as a customer: {email}, password {password}. No newsletter, please.",
        "I have no account yet. Make one with the name {first} {last}, address {email} and password {password}; "
        "do not sign me up for the newsletter.",
        "Sign up a new customer called {first} {last} with {email} and {password}. Newsletter: no.",
        "Open a customer account. First name {first}, last name {last}, e-mail {email}, password {password}, no "
        "newsletter.",
    ),
    generate=_member,
    expect=_expect_member,
    plan=lambda params: (
        Click("link", "Create an account"),
        Fill("First name", params["first"]),
        Fill("Last name", params["last"]),
        Fill("Email", params["email"]),
        Fill("Password", params["password"]),
        Fill("Confirm password", params["password"]),
        Click("button", "Create an Account"),
        Stop(),
    ),
    held_out=True,
)


def _sold_or_not(world: World, rng: random.Random) -> dict[str, Any] | None:
    """A product that is sold, or one that the shop has taken out."""
    if rng.random() < 0.5:
        return {"product": some_product(world, rng).name}
    gone = world.rows("SELECT name FROM product WHERE status = 'disabled' ORDER BY id")
    name = rng.choice(gone)["name"] if gone else ""
    there = world.value("SELECT 1 FROM product WHERE status = 'enabled' AND name = ?", name)
    return None if not name or there or len(name) > facts.LONGEST_NAME else {"product": name, "absent": True}


def _telling_words(name: str) -> list[str]:
    """The words of a name that one would search for, the longest first."""
    words = name.replace(",", " ").split()
    return sorted({word for word in words if len(word) >= 4} or set(words), key=lambda word: (-len(word), word))


def _expect_sku(world: World, params: Params) -> tuple[Check, ...]:
    if params.get("absent"):
        searched = [
            Request(host=HOST, path="/search", contains=(("q", word),)) for word in _telling_words(params["product"])
        ]
        return (Unachievable(reveals=(searched[0],), or_one=tuple(searched[1:])),)
    return (Answer(type="text", values=(by_name(world, params).sku,)),)


def _plan_sku(params: Params) -> Plan:
    if params.get("absent"):
        return Fill(SEARCH, params["product"], enter=True), Stop("N/A")
    return *search_for(params["product"]), Read("sku", matching(r"SKU: (.*)")), Stop(said("sku"))


SKU = Template(
    name="shop.product_sku",
    family="product fact",
    kind=TaskKind.RETRIEVE,
    phrasings=(
        'What is the SKU of "{product}"? Answer with it alone, or with N/A if the shop does not sell the product.',
        'I need the article number (SKU) of "{product}"; N/A if there is no such product in the shop.',
        'Find "{product}" and tell me its SKU. Should it not be on offer, say N/A.',
        'Give me the SKU under which the shop sells "{product}". Reply N/A when it is not sold.',
        'Look up the SKU for the product called "{product}". If the shop does not have it, the answer is N/A.',
    ),
    generate=_sold_or_not,
    expect=_expect_sku,
    plan=_plan_sku,
    extra=1,
    twins=True,
)


RANKS = range(1, 49)


def _rank(world: World, rng: random.Random) -> dict[str, Any] | None:
    """A place before which no name comes twice."""
    rank = rng.choice(RANKS)
    names = _sellers(world)[:rank]
    return {"rank": rank} if len(names[-1]) <= facts.LONGEST_NAME and len(set(names)) == rank else None


def _sellers(world: World) -> list[str]:
    return world.column(
        "SELECT name FROM product WHERE status = 'enabled' AND stock > 0 ORDER BY popularity DESC, id LIMIT 48"
    )


def _expect_rank(world: World, params: Params) -> tuple[Check, ...]:
    return (Answer(type="text", values=(_sellers(world)[params["rank"] - 1],)),)


def cards(lines: Sequence[Line]) -> list[str]:
    """The names of the products of a list, in order: headings that are links."""
    pairs = itertools.pairwise(lines)
    return [h.name for h, link in pairs if (h.role, link.role) == ("heading", "link") and h.name == link.name]


SELLER = Template(
    name="shop.best_seller",
    family="first of a list",
    kind=TaskKind.RETRIEVE,
    phrasings=(
        "Which product stands in place {rank} of the shop's best sellers? Answer with its full name.",
        "Go down the list of best sellers from the top: what is the exact name of number {rank}?",
        "Name the product that ranks {rank} among the best sellers (1 is the most popular).",
        "In the best-seller list, in its usual order, which article is at position {rank}? Its name, please.",
        "I want to know what is number {rank} on the shop's list of best sellers.",
    ),
    generate=_rank,
    expect=_expect_rank,
    plan=lambda params: (
        Click("link", "Best sellers"),
        Choose("Show per page", "48"),
        Click("button", "Apply"),
        Gather("names", cards),
        Stop(lambda memory: memory["names"].splitlines()[params["rank"] - 1]),
    ),
    extra=12,
)

PRICES = (("0-25", "Under $25"), ("25-50", "$25 to $50"), ("50-100", "$50 to $100"), ("100-250", "$100 to $250"))


def _reduced(world: World, rng: random.Random) -> dict[str, Any] | None:
    """A brand that stands among the filters which the page offers."""
    value, label = rng.choice(PRICES)
    ranked = _offered(world, value)
    return {"price": value, "label": label, "brand": rng.choice(ranked)} if ranked else None


@lru_cache(maxsize=32)
def _offered(world: World, price: str) -> tuple[str, ...]:
    """Brands that the sale offers as filters when it is narrowed to a range of prices."""
    counts = {brand: len(_on_sale(world, brand, price)) for brand in world.column("SELECT name FROM brand ORDER BY id")}
    ranked = sorted((brand for brand in counts if counts[brand]), key=lambda brand: (-counts[brand], brand))
    return tuple(ranked[:FACETS])


def _on_sale(world: World, brand: str, price: str) -> list[str]:
    """Names of what is reduced, of a brand and in a range of prices."""
    low, high = (int(part) * 100 for part in price.split("-"))
    found = on_sale(world, "brand.name = ?", brand)
    lists = _list_prices(world)
    return [name for cents, name, product in found if cents < lists[product] and low <= cents < high]


@lru_cache(maxsize=4)
def _list_prices(world: World) -> dict[int, int]:
    return {row["id"]: row["price_cents"] for row in world.rows("SELECT id, price_cents FROM product ORDER BY id")}


def _expect_reduced(world: World, params: Params) -> tuple[Check, ...]:
    return (Answer(type="number", values=(str(len(_on_sale(world, params["brand"], params["price"]))),)),)


REDUCED = Template(
    name="shop.sale_count",
    family="count of a list",
    kind=TaskKind.RETRIEVE,
    phrasings=(
        'How many products of {brand} are on sale now in the price range "{label}"? Answer with a number.',
        'On the sale page, count what comes from {brand} and costs "{label}".',
        'Of the reduced products, how many are by {brand} and lie in the range "{label}"?',
        'Tell me the number of {brand} articles in the sale whose price is "{label}".',
        'Filter the sale by the price "{label}" and the brand {brand}: how many products are left?',
    ),
    generate=_reduced,
    expect=_expect_reduced,
    plan=lambda params: (
        Click("link", "Sale"),
        Click("link", f"{params['label']} (", starts=True),
        Read("count", matching(rf"{params['brand']} \((\d+)\)", role="link")),
        Stop(said("count")),
    ),
    extra=2,
    held_out=True,
)


def _rated(world: World, rng: random.Random) -> dict[str, Any] | None:
    brand = some_product(world, rng)
    stars = rng.choice((3, 4))
    return (
        {"brand": brand.brand, "stars": stars, "slug": brand.brand_slug}
        if _ratings(world, brand.brand, stars)
        else None
    )


@lru_cache(maxsize=512)
def _ratings(world: World, brand: str, stars: int) -> int:
    """Products of a brand whose reviews give so many stars on the average."""
    return sum(
        (world.value("SELECT avg(stars) FROM review WHERE status = 'approved' AND product_id = ?", product) or 0)
        >= stars
        for _, _, product in on_sale(world, "brand.name = ?", brand)
    )


def _expect_rated(world: World, params: Params) -> tuple[Check, ...]:
    query = (("rating", str(params["stars"])),)
    without = tuple(name for name in FILTERS if name != "rating")
    return (Url(host=HOST, path=f"/brands/{params['slug']}", query=query, without=without),)


RATED = Template(
    name="shop.show_brand_rated",
    family="page of a list",
    kind=TaskKind.NAVIGATE,
    phrasings=(
        "Show me the products of {brand} that have {stars} stars and up.",
        "Open the page of the brand {brand} and keep only what is rated {stars} stars or better.",
        "Which products by {brand} are rated {stars} stars and up? Bring them onto the screen.",
        "Go to the brand {brand} and filter its products by a rating of at least {stars} stars.",
        "I would like to look at {brand}, limited to products with {stars} or more stars.",
    ),
    generate=_rated,
    expect=_expect_rated,
    plan=lambda params: (
        Click("link", "Brands"),
        Click("link", params["brand"]),
        Click("link", f"{params['stars']} stars and up (", starts=True),
        Stop(),
    ),
    extra=4,
    held_out=True,
)


def _to_review(world: World, rng: random.Random) -> dict[str, Any] | None:
    """A product that has reviews, so that its page has the link."""
    product = some_product(world, rng)
    count = world.value("SELECT count(*) FROM review WHERE product_id = ? AND status = 'approved'", product.id)
    return {"product": product.name} if count else None


def _expect_to_review(world: World, params: Params) -> tuple[Check, ...]:
    return (Url(host=HOST, path=f"/p/{by_name(world, params).slug}/write-review"),)


TO_REVIEW = Template(
    name="shop.open_review_form",
    family="page of a product",
    kind=TaskKind.NAVIGATE,
    phrasings=(
        'Take me to the form in which I can review "{product}".',
        'I want to write about "{product}" myself. Open the review form and leave the writing to me.',
        'Bring up the page for writing a review of "{product}".',
        'Open the empty review form of "{product}".',
        'Go to where a review for "{product}" can be entered, and stop there.',
    ),
    generate=_to_review,
    expect=_expect_to_review,
    plan=lambda params: (
        *search_for(params["product"]),
        Click("link", "Reviews (", starts=True),
        Click("link", "Write a review"),
        Stop(),
    ),
    extra=3,
)

TEMPLATES = (MESSAGE, PREPARED, SUBSCRIBE, REGISTER, SKU, SELLER, REDUCED, RATED, TO_REVIEW)
