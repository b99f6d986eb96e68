"""Tasks that begin on the homepage: signing in with its accounts, its tools, and sites put together."""

from __future__ import annotations

import random
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from envservers.webarena.evaluators.answer import Answer
from envservers.webarena.evaluators.combine import TaskKind
from envservers.webarena.evaluators.evidence import Check
from envservers.webarena.evaluators.form import Form
from envservers.webarena.evaluators.log import Log, Request
from envservers.webarena.evaluators.url import Url
from envservers.webarena.tasks import facts
from envservers.webarena.tasks.plan import Click, Fill, Go, Memory, Page, Plan, Read, Step, Stop
from envservers.webarena.tasks.reading import after, cell, matching, money_after
from envservers.webarena.tasks.template import HOME, Params, Template
from envservers.webarena.tasks.templates import admin_steps
from envservers.webarena.tasks.templates.shop_orders import my_orders
from envservers.webarena.tasks.templates.shop_steps import SEARCH, by_name, said, search_for, some_product
from envservers.webarena.world.world import World

HOST = "home.test"


def _sign_in(site: str, field: str, button: str) -> tuple[Step, ...]:
    """With the account that the homepage lists for a site."""
    return (
        Click("link", "Accounts"),
        Read("name", cell(site, 2)),
        Read("password", cell(site, 3)),
        Click("link", site),
        Fill(field, said("name")),
        Fill("Password", said("password")),
        Click("button", button),
    )


def _mine(world: World, rng: random.Random) -> dict[str, Any]:
    return {"order": rng.choice(my_orders(world))["number"]}


def _expect_payment(world: World, params: Params) -> tuple[Check, ...]:
    method = world.value("SELECT payment_method FROM sales_order WHERE number = ?", params["order"])
    return (Answer(type="text", values=(method,)),)


PAYMENT = Template(
    name="home.payment_method",
    family="signed in and looked up",
    kind=TaskKind.RETRIEVE,
    start=(HOME,),
    account="",
    crosses=True,
    phrasings=(
        "Sign in to the shop with the account that the homepage lists, and tell me by which payment method order "
        "{order} was paid, as the order's page says it.",
        "The homepage has a page with accounts. Use the one for the shop: what is the payment method of order {order}?",
        "Log in to the shop (the accounts are on the homepage) and find the payment method of my order {order}. Answer "
        "with its name.",
        "Which payment method does order {order} have? You will need to sign in to the shop; look for the password on "
        "the homepage.",
        "With the shop account noted on the homepage, open order {order} and report how it was paid, in the words of "
        "the page.",
    ),
    generate=_mine,
    expect=_expect_payment,
    plan=lambda params: (
        *_sign_in("Shop", "Email", "Sign In"),
        Click("link", "My orders"),
        Page("link", params["order"]),
        Click("link", params["order"]),
        Read("method", after("Payment method")),
        Stop(said("method")),
    ),
    extra=8,
)


def _any(world: World, rng: random.Random) -> dict[str, Any]:
    row = admin_steps.some_order(world, rng, "pending", "processing", "shipped", "on_hold", "canceled", "complete")
    return {"order": row["number"]}


def _expect_town(world: World, params: Params) -> tuple[Check, ...]:
    return (Answer(type="text", values=(admin_steps.order_of(world, params)["town"],)),)


TOWN = Template(
    name="home.town_of_order",
    family="signed in and looked up",
    kind=TaskKind.RETRIEVE,
    start=(HOME,),
    account="",
    crosses=True,
    phrasings=(
        "Sign in to the shop administration with the account from the homepage. To which town does order {order} go? "
        "Answer with the town.",
        "The homepage lists a manager's account. Use it in the administration and name the town that "
        "order {order} ships to.",
        "In the administration (sign in as the homepage tells you), look up order {order}: which town is it for?",
        "Which town stands in the list of orders for number {order}? Sign in to the administration first; the "
        "credentials are on the homepage.",
        "Log in to the shop's administration by the account on the homepage and find the town of order {order}.",
    ),
    generate=_any,
    expect=_expect_town,
    plan=lambda params: (
        *_sign_in("Shop administration", "User name", "Sign in"),
        *admin_steps.to_orders(Fill("Order number", params["order"])),
        Read("town", cell(params["order"], 4)),
        Stop(said("town")),
    ),
    extra=2,
)


def _two(world: World, rng: random.Random) -> dict[str, Any] | None:
    one, two = some_product(world, rng), some_product(world, rng)
    if one.id == two.id:
        return None
    return {"product": one.name, "other": two.name, "many": rng.randint(2, 9), "more": rng.randint(2, 9)}


def _expect_two(world: World, params: Params) -> tuple[Check, ...]:
    one, two = by_name(world, params), by_name(world, {"product": params["other"]})
    cents = one.unit_cents * params["many"] + two.unit_cents * params["more"]
    return (Answer(type="money", values=(facts.dollars(cents),)),)


def _sum(params: Params) -> Callable[[Memory], str]:
    def add(memory: Memory) -> str:
        one, two = (Decimal(memory[name].strip("$").replace(",", "")) for name in ("one", "two"))
        return f"${one * params['many'] + two * params['more']}"

    return add


def _plan_two(params: Params) -> Plan:
    return (
        Click("link", "Shop"),
        Fill(SEARCH, params["product"], enter=True),
        Page("link", params["product"]),
        Read("one", money_after(params["product"], role="link")),
        Fill(SEARCH, params["other"], enter=True),
        Page("link", params["other"]),
        Read("two", money_after(params["other"], role="link")),
        Stop(_sum(params)),
    )


TOTAL = Template(
    name="home.total_of_two",
    family="prices added up",
    kind=TaskKind.RETRIEVE,
    start=(HOME,),
    crosses=True,
    phrasings=(
        'What would {many} x "{product}" and {more} x "{other}" cost together at the shop\'s prices of today, without '
        "shipping? Answer with the amount.",
        'Work out the price of {many} pieces of "{product}" plus {more} pieces of "{other}" at the shop\'s present '
        "prices. One amount, please.",
        'I want {many} of "{product}" and {more} of "{other}". Tell me the sum of their prices in the shop.',
        'Add up: {many} times the price of "{product}" and {more} times the price of "{other}". What is the total?',
        'How much are {many} "{product}" and {more} "{other}" in all, at the prices that the shop asks now?',
    ),
    generate=_two,
    expect=_expect_two,
    plan=_plan_two,
    extra=2,
)


def _noted(world: World, rng: random.Random) -> dict[str, Any]:
    return {"product": some_product(world, rng).name}


def _expect_noted(world: World, params: Params) -> tuple[Check, ...]:
    sku = by_name(world, params).sku
    saved = Request(host=HOST, path="/scratchpad", method="POST", form=(("note", sku),))
    return (Form(fields=(("Notes", sku),)), Url(host=HOST, path="/scratchpad"), Log(must=(saved,)))


NOTED = Template(
    name="home.note_sku",
    family="noted on the scratchpad",
    kind=TaskKind.FILL,
    start=(HOME,),
    crosses=True,
    phrasings=(
        'Look up the SKU of "{product}" in the shop and save it, alone, as the note on the homepage\'s scratchpad. '
        "Leave the scratchpad open.",
        'Note the SKU of the shop\'s product "{product}" on the scratchpad (nothing else), save the notes and '
        "stay on that page.",
        'Put the SKU that the shop has for "{product}" onto the scratchpad of the homepage. Save it and leave '
        "the page open.",
        'The scratchpad should hold just the SKU of "{product}". Find it in the shop, write it there and save; '
        "leave the scratchpad open.",
        'Find "{product}" in the shop, then write its SKU on the homepage\'s scratchpad, save, and stay there.',
    ),
    generate=_noted,
    expect=_expect_noted,
    plan=lambda params: (
        Click("link", "Shop"),
        *search_for(params["product"]),
        Read("sku", matching(r"SKU: (.*)")),
        Go(HOME),
        Click("link", "Scratchpad"),
        Fill("Notes", said("sku")),
        Click("button", "Save Notes"),
        Stop(),
    ),
    extra=2,
    held_out=True,
)


def _sums(world: World, rng: random.Random) -> dict[str, Any]:
    one, two, three = rng.randint(120, 9800), rng.randint(12, 980), rng.randint(3, 97)
    return {"one": f"{one / 100:.2f}", "two": two, "three": three}


def _expect_sums(world: World, params: Params) -> tuple[Check, ...]:
    value = Decimal(params["one"]) * params["two"] - params["three"]
    asked = Request(host=HOST, path="/calculator", contains=(("expression", params["one"]),))
    return (Answer(type="number", values=(str(value),)), Log(must=(asked,)))


SUMS = Template(
    name="home.calculate",
    family="calculated",
    kind=TaskKind.RETRIEVE,
    start=(HOME,),
    account="",
    phrasings=(
        "Work out {one} * {two} - {three} with the homepage's calculator and answer with the result.",
        "Use the calculator on the homepage: what is {one} * {two} - {three}?",
        "Let the homepage's calculator multiply {one} by {two} and take {three} away. Give me the number it shows.",
        "I need {one} times {two}, less {three}. Have the calculator of the homepage do it and report the result.",
        "Type {one} * {two} - {three} into the calculator that the homepage offers. What comes out?",
    ),
    generate=_sums,
    expect=_expect_sums,
    plan=lambda params: (
        Click("link", "Calculator"),
        Fill("Sum", f"{params['one']} * {params['two']} - {params['three']}"),
        Click("button", "Calculate"),
        Read("result", matching(r"(-?[\d.]+)")),
        Stop(said("result")),
    ),
    extra=1,
    most=10,
)

TEMPLATES = (PAYMENT, TOWN, TOTAL, NOTED, SUMS)
