"""The manager's work on customers, coupons, content and settings, and the reports."""

from __future__ import annotations

import datetime
import random
from functools import lru_cache
from sqlite3 import Row
from typing import Any

from envservers.webarena.evaluators.answer import Answer
from envservers.webarena.evaluators.combine import TaskKind
from envservers.webarena.evaluators.database import Allow, Database, Insert, Update
from envservers.webarena.evaluators.evidence import Check
from envservers.webarena.evaluators.values import Matcher
from envservers.webarena.tasks import facts, wording
from envservers.webarena.tasks.plan import Choose, Click, Fill, Read, Step, Stop
from envservers.webarena.tasks.reading import after, cell
from envservers.webarena.tasks.template import ADMIN, Params, Template
from envservers.webarena.tasks.templates.shop_steps import said
from envservers.webarena.world.world import World

GROUPS = ("General", "Wholesale", "Member", "Staff")


def _to_customer(email: str, name: str) -> tuple[Step, ...]:
    return (
        Click("link", "Customers"),
        Fill("Email", email),
        Click("button", "Apply Filters"),
        Click("link", name),
    )


def _report(page: str, params: Params) -> tuple[Step, ...]:
    to_page = (Click("link", page),) if page else ()
    return (
        Click("link", "Reports"),
        *to_page,
        Fill("Date from", params["first"]),
        Fill("Date to", params["last"]),
        Click("button", "Show Report"),
    )


@lru_cache(maxsize=4)
def _customers(world: World) -> tuple[Row, ...]:
    """Customers whose e-mail address is no part of another one's."""
    rows = world.rows("SELECT * FROM customer ORDER BY id")
    mails = [row["email"].casefold() for row in rows]
    return tuple(row for row in rows if sum(row["email"].casefold() in mail for mail in mails) == 1)


def _customer(world: World, rng: random.Random) -> dict[str, Any]:
    row = rng.choice(_customers(world))
    return {"email": row["email"], "name": f"{row['first_name']} {row['last_name']}"}


def _row(world: World, params: Params) -> Row:
    return world.row("SELECT * FROM customer WHERE email = ?", params["email"])


def _phone_owner(world: World, rng: random.Random) -> dict[str, Any] | None:
    row = rng.choice(_customers(world))
    alone = world.value("SELECT count(*) FROM customer WHERE phone = ?", row["phone"]) == 1
    return {"phone": row["phone"]} if alone and row["phone"] else None


def _expect_owner(world: World, params: Params) -> tuple[Check, ...]:
    email = world.value("SELECT email FROM customer WHERE phone = ?", params["phone"])
    return (Answer(type="text", values=(email,)),)


OWNER = Template(
    name="admin.customer_by_phone",
    family="customer looked up",
    kind=TaskKind.RETRIEVE,
    start=(ADMIN,),
    account="manager",
    phrasings=(
        "Somebody called from {phone}. Which e-mail address does the customer with that phone number have? Answer with "
        "it alone.",
        "Find the customer whose phone number is {phone} and give me the e-mail address.",
        "Whose number is {phone}? I need the customer's e-mail address.",
        "Look up the customer reached at {phone}; report the e-mail address only.",
        "A customer left the number {phone}. Tell me the e-mail address of that account.",
    ),
    generate=_phone_owner,
    expect=_expect_owner,
    plan=lambda params: (
        Click("link", "Customers"),
        Fill("Phone", params["phone"]),
        Click("button", "Apply Filters"),
        Read("email", cell(params["phone"], 2)),
        Stop(said("email")),
    ),
    extra=1,
)


def _buyer(world: World, rng: random.Random) -> dict[str, Any] | None:
    params = _customer(world, rng)
    return params if _lifetime(world, params) else None


def _lifetime(world: World, params: Params) -> int:
    total: int = world.value(
        "SELECT coalesce(sum(total_cents), 0) FROM sales_order WHERE customer_id = ? AND status <> 'canceled'",
        _row(world, params)["id"],
    )
    return total


def _expect_lifetime(world: World, params: Params) -> tuple[Check, ...]:
    return (Answer(type="money", values=(facts.dollars(_lifetime(world, params)),)),)


LIFETIME = Template(
    name="admin.lifetime_sales",
    family="customer looked up",
    kind=TaskKind.RETRIEVE,
    start=(ADMIN,),
    account="manager",
    phrasings=(
        "What are the lifetime sales of the customer {name} ({email})? Answer with the amount.",
        "How much has {name}, e-mail {email}, bought from us in all, by the customer's statistics? The amount, please.",
        "Open the customer {email} ({name}) and report the lifetime sales.",
        "Give me the amount of lifetime sales shown for {name} with the address {email}.",
        "For the account of {name} <{email}>, which lifetime sales are stated?",
    ),
    generate=_buyer,
    expect=_expect_lifetime,
    plan=lambda params: (
        *_to_customer(params["email"], params["name"]),
        Read("total", after("Lifetime sales")),
        Stop(said("total")),
    ),
    extra=1,
)


def _group(world: World, rng: random.Random) -> dict[str, Any] | None:
    params = _customer(world, rng)
    group = rng.randint(1, len(GROUPS))
    return None if group == _row(world, params)["group_id"] else params | {"group": GROUPS[group - 1]}


def _expect_group(world: World, params: Params) -> tuple[Check, ...]:
    group = world.value("SELECT id FROM customer_group WHERE name = ?", params["group"])
    return (Database(updates=(Update(table="customer", id=_row(world, params)["id"], values={"group_id": group}),)),)


GROUP = Template(
    name="admin.move_customer",
    family="customer's account changed",
    kind=TaskKind.MUTATE,
    start=(ADMIN,),
    account="manager",
    phrasings=(
        'Move the customer {name} ({email}) into the group "{group}".',
        'Set the customer group of {name}, {email}, to "{group}".',
        'The account {email} of {name} belongs into the group "{group}" from now on.',
        'Change the group of customer {name} with the e-mail {email} to "{group}" and save.',
        'Make {name} <{email}> a customer of the group "{group}".',
    ),
    generate=_group,
    expect=_expect_group,
    plan=lambda params: (
        *_to_customer(params["email"], params["name"]),
        Choose("Customer group", params["group"]),
        Click("button", "Save Customer"),
        Stop(),
    ),
    extra=1,
)


def _active(world: World, rng: random.Random) -> dict[str, Any] | None:
    params = _customer(world, rng)
    return params if _row(world, params)["active"] else None


def _expect_closed(world: World, params: Params) -> tuple[Check, ...]:
    return (Database(updates=(Update(table="customer", id=_row(world, params)["id"], values={"active": 0}),)),)


CLOSED = Template(
    name="admin.deactivate_customer",
    family="customer's account changed",
    kind=TaskKind.MUTATE,
    start=(ADMIN,),
    account="manager",
    phrasings=(
        "Deactivate the account of {name} ({email}).",
        "{name} shall not be able to sign in any more. Make the account {email} inactive.",
        "Set the customer account {email} ({name}) to not active.",
        "The account of customer {name}, {email}, must be switched off.",
        "Take away the active mark from the account of {name} <{email}> and save that.",
    ),
    generate=_active,
    expect=_expect_closed,
    plan=lambda params: (
        *_to_customer(params["email"], params["name"]),
        Click("checkbox", "Account is active", new_page=False),
        Click("button", "Save Customer"),
        Stop(),
    ),
    extra=1,
)


def _new_customer(world: World, rng: random.Random) -> dict[str, Any]:
    first, last = wording.full_name(rng)
    return {
        "first": first,
        "last": last,
        "email": wording.email(rng),
        "phone": wording.phone(rng),
        "group": rng.choice(GROUPS[1:]),
        "password": wording.password(rng),
    }


def _expect_new_customer(world: World, params: Params) -> tuple[Check, ...]:
    values: dict[str, Matcher] = {
        "first_name": params["first"],
        "last_name": params["last"],
        "email": params["email"],
        "phone": params["phone"],
        "group_id": world.value("SELECT id FROM customer_group WHERE name = ?", params["group"]),
        "newsletter": 0,
        "active": 1,
        "password": params["password"],
    }
    now = Allow(table="customer", column="created_at", reason="the moment at which it was saved")
    return (Database(inserts=(Insert(table="customer", values=values),), allow=(now,)),)


NEW_CUSTOMER = Template(
    name="admin.add_customer",
    family="account made by the manager",
    kind=TaskKind.MUTATE,
    start=(ADMIN,),
    account="manager",
    phrasings=(
        'Add the customer {first} {last}: e-mail {email}, phone {phone}, group "{group}", password {password}, active, '
        "without newsletter.",
        'Create an active customer account for {first} {last} ({email}, {phone}) in the group "{group}" with the '
        "password {password}. No newsletter.",
        'A new customer wants an account: {first} {last}, {email}, phone {phone}. Group: "{group}". Password: '
        "{password}. It is active and gets no newsletter.",
        'Enter {first} {last} as a customer of group "{group}". E-mail {email}; phone {phone}; password {password}.',
        "Please set up an account in the administration: first name {first}, last name {last}, e-mail {email}, phone "
        'number {phone}, customer group "{group}", password {password}.',
    ),
    generate=_new_customer,
    expect=_expect_new_customer,
    plan=lambda params: (
        Click("link", "Customers"),
        Click("link", "Add Customer"),
        Fill("First name", params["first"]),
        Fill("Last name", params["last"]),
        Fill("Email", params["email"]),
        Fill("Phone number", params["phone"]),
        Choose("Customer group", params["group"]),
        Fill("Password", params["password"]),
        Click("button", "Save Customer"),
        Stop(),
    ),
    extra=2,
)


def _coupon(world: World, rng: random.Random) -> dict[str, Any]:
    percent = rng.choice((5, 8, 10, 12, 15, 18, 20, 25, 30))
    start = datetime.date.fromisoformat(world.starts_at[:10]) + datetime.timedelta(days=rng.randint(1, 60))
    code = f"{rng.choice(('QUAY', 'HARBOR', 'LUCKY', 'MAYDAY', 'THANKS', 'FRIENDS'))}{percent}{rng.choice('BCDFGHJK')}"
    taken = world.value("SELECT 1 FROM coupon WHERE code = ?", code)
    return {
        "code": f"{code}X" if taken else code,
        "percent": percent,
        "least": rng.randint(2, 20) * 5,
        "first": start.isoformat(),
        "last": (start + datetime.timedelta(days=rng.randint(5, 50))).isoformat(),
    }


def _expect_coupon(world: World, params: Params) -> tuple[Check, ...]:
    values: dict[str, Matcher] = {
        "code": params["code"],
        "description": f"{params['percent']} % off",
        "kind": "percent",
        "amount": params["percent"],
        "min_cents": params["least"] * 100,
        "starts_on": params["first"],
        "ends_on": params["last"],
        "active": 1,
        "uses": 0,
        "use_limit": None,
    }
    return (Database(inserts=(Insert(table="coupon", values=values),)),)


COUPON = Template(
    name="admin.add_coupon",
    family="coupon made",
    kind=TaskKind.MUTATE,
    start=(ADMIN,),
    account="manager",
    phrasings=(
        'Create the coupon {code}: {percent} percent off, described as "{percent} % off", smallest subtotal {least} '
        "dollars, valid from {first} to {last}, no use limit, active.",
        'Add a coupon with the code {code} and the description "{percent} % off" that takes {percent} % off orders '
        "from {least} dollars on. It is active, has no limit and holds from {first} to {last}.",
        "We want a new active coupon: {code}, {percent} percent, for subtotals of at least {least}, {first} to {last}, "
        'unlimited use. Description: "{percent} % off".',
        "Set up {code} as a coupon. Type: percent off. Amount: {percent}. Smallest subtotal: {least}. Valid from "
        '{first}, valid to {last}. Description: "{percent} % off". Active, without use limit.',
        'Enter the coupon code {code} ("{percent} % off"): it gives {percent} percent from a subtotal of {least} '
        "dollars and is valid between {first} and {last}, any number of times.",
    ),
    generate=_coupon,
    expect=_expect_coupon,
    plan=lambda params: (
        Click("link", "Marketing"),
        Click("link", "Add Coupon"),
        Fill("Code", params["code"]),
        Fill("Description", f"{params['percent']} % off"),
        Fill("Amount", str(params["percent"])),
        Fill("Smallest subtotal", str(params["least"])),
        Fill("Valid from", params["first"]),
        Fill("Valid to", params["last"]),
        Click("button", "Save Coupon"),
        Stop(),
    ),
    extra=3,
)


def _running(world: World, rng: random.Random) -> dict[str, Any]:
    limit = rng.randint(500, 990)
    return {"coupon": rng.choice(world.column("SELECT code FROM coupon WHERE active = 1 ORDER BY id")), "limit": limit}


def _expect_stopped(world: World, params: Params) -> tuple[Check, ...]:
    number = world.value("SELECT id FROM coupon WHERE code = ?", params["coupon"])
    values: dict[str, Matcher] = {"active": 0, "use_limit": params["limit"]}
    return (Database(updates=(Update(table="coupon", id=number, values=values),)),)


STOPPED = Template(
    name="admin.stop_coupon",
    family="coupon changed",
    kind=TaskKind.MUTATE,
    start=(ADMIN,),
    account="manager",
    phrasings=(
        "Switch the coupon {coupon} off and set its use limit to {limit}.",
        "The coupon {coupon} shall not be active any more, and its use limit becomes {limit}.",
        "Deactivate {coupon} among the coupons; at the same time change the limit of uses to {limit}.",
        "Edit the coupon {coupon}: not active, use limit {limit}.",
        "Stop the coupon {coupon} for now, and note {limit} as its use limit.",
    ),
    generate=_running,
    expect=_expect_stopped,
    plan=lambda params: (
        Click("link", "Marketing"),
        Fill("Code", params["coupon"]),
        Click("button", "Apply Filters"),
        Click("link", params["coupon"]),
        Fill("Use limit", str(params["limit"])),
        Click("checkbox", "Active", new_page=False),
        Click("button", "Save Coupon"),
        Stop(),
    ),
    extra=2,
    held_out=True,
)


def _span(world: World, rng: random.Random) -> dict[str, Any]:
    today = datetime.date.fromisoformat(world.starts_at[:10])
    first = today - datetime.timedelta(days=rng.randint(40, 640))
    last = first + datetime.timedelta(days=rng.randint(12, 35))
    return {"first": first.isoformat(), "last": last.isoformat()}


_ORDERED = "placed_at >= ? AND placed_at <= ? AND sales_order.status <> 'canceled'"


def _days(params: Params) -> tuple[str, str]:
    return params["first"], f"{params['last']} 23:59:59"


def _expect_sales(world: World, params: Params) -> tuple[Check, ...]:
    cents = world.value(f"SELECT sum(total_cents) FROM sales_order WHERE {_ORDERED}", *_days(params))
    return (Answer(type="money", values=(facts.dollars(cents),)),)


def _sold(world: World, rng: random.Random) -> dict[str, Any] | None:
    params = _span(world, rng)
    return params if world.value(f"SELECT 1 FROM sales_order WHERE {_ORDERED}", *_days(params)) else None


SALES = Template(
    name="admin.sales_total",
    family="report read",
    kind=TaskKind.RETRIEVE,
    start=(ADMIN,),
    account="manager",
    phrasings=(
        "What is the sales total of all days from {first} to {last} together, by the sales report? The amount alone.",
        "How much did we sell from {first} to {last}, both days included? Take the sales total of the report.",
        "Run the sales report for {first} to {last} and give me its sales total over the whole time.",
        "I need the overall sales total for the time between {first} and {last}, as reported.",
        "Report the total of sales in the period {first} to {last}. One amount.",
    ),
    generate=_sold,
    expect=_expect_sales,
    plan=lambda params: (*_report("", params), Read("total", cell("Total", 6)), Stop(said("total"))),
    extra=2,
)


def _top_product(world: World, params: Params) -> list[Row]:
    return world.rows(
        "SELECT product.name, sum(quantity) AS sold FROM sales_order JOIN order_line ON order_id = sales_order.id "
        f"JOIN product ON product.id = product_id WHERE {_ORDERED} GROUP BY product.id "
        "ORDER BY sold DESC, product.id LIMIT 2",
        *_days(params),
    )


def _best(world: World, rng: random.Random) -> dict[str, Any] | None:
    params = _span(world, rng)
    rows = _top_product(world, params)
    return params if len(rows) == 2 and rows[0]["sold"] > rows[1]["sold"] else None


def _expect_best(world: World, params: Params) -> tuple[Check, ...]:
    return (Answer(type="text", values=(_top_product(world, params)[0]["name"],)),)


BEST = Template(
    name="admin.best_seller",
    family="report read",
    kind=TaskKind.RETRIEVE,
    start=(ADMIN,),
    account="manager",
    phrasings=(
        "Which product was ordered in the largest quantity from {first} to {last}? Answer with its full name.",
        "Name the best seller, by quantity, of the time between {first} and {last}.",
        "From {first} to {last}: what is the exact name of the product with the largest quantity ordered?",
        "Look into the report on best sellers for {first} to {last} and tell me the name in the first place.",
        "What sold best, in pieces, from {first} until {last}? Just the product's name.",
    ),
    generate=_best,
    expect=_expect_best,
    plan=lambda params: (
        *_report("Best sellers", params),
        Read("name", _first_ranked),
        Stop(said("name")),
    ),
    extra=1,
)


def _first_ranked(lines: Any) -> str | None:
    """The second cell of the row whose first cell is 1."""
    cells = [line.name for line in lines if line.role == "cell"]
    place = next((n for n, name in enumerate(cells) if name == "1"), None)
    return None if place is None or place + 1 >= len(cells) else cells[place + 1]


def _top_customers(world: World, params: Params) -> list[Row]:
    return world.rows(
        "SELECT customer.email, sum(total_cents) AS total FROM sales_order "
        f"JOIN customer ON customer.id = customer_id WHERE {_ORDERED} GROUP BY customer.id "
        "ORDER BY total DESC, customer.id LIMIT 2",
        *_days(params),
    )


def _fan(world: World, rng: random.Random) -> dict[str, Any] | None:
    params = _span(world, rng)
    rows = _top_customers(world, params)
    return params if len(rows) == 2 and rows[0]["total"] > rows[1]["total"] else None


def _expect_fan(world: World, params: Params) -> tuple[Check, ...]:
    return (Answer(type="text", values=(_top_customers(world, params)[0]["email"],)),)


FAN = Template(
    name="admin.best_customer",
    family="report read",
    kind=TaskKind.RETRIEVE,
    start=(ADMIN,),
    account="manager",
    phrasings=(
        "Which customer ordered for the most money from {first} to {last}? Answer with the e-mail address.",
        "Give me the e-mail address of the best customer of the days {first} to {last}, by the total of all orders.",
        "Who was our best customer between {first} and {last}? I want the e-mail address.",
        "By the report on best customers, whose e-mail address comes first for {first} to {last}?",
        "For the time from {first} until {last}, report the e-mail of the customer whose orders add up to the most.",
    ),
    generate=_fan,
    expect=_expect_fan,
    plan=lambda params: (
        *_report("Best customers", params),
        Read("email", _first_email),
        Stop(said("email")),
    ),
    extra=1,
    held_out=True,
)


def _first_email(lines: Any) -> str | None:
    return next((line.name for line in lines if line.role == "cell" and "@" in line.name), None)


def _term(world: World, rng: random.Random) -> dict[str, Any] | None:
    terms = world.column("SELECT term FROM search_term ORDER BY id")
    term = rng.choice(terms)
    return {"term": term} if sum(term in other for other in terms) == 1 else None


def _expect_term(world: World, params: Params) -> tuple[Check, ...]:
    uses = world.value("SELECT uses FROM search_term WHERE term = ?", params["term"])
    return (Answer(type="number", values=(str(uses),)),)


TERM = Template(
    name="admin.search_term_uses",
    family="term looked up",
    kind=TaskKind.RETRIEVE,
    start=(ADMIN,),
    account="manager",
    phrasings=(
        'How often was "{term}" searched for in the shop? Answer with the number of uses.',
        'Look up the search term "{term}" and tell me its uses.',
        'By the report on search terms, how many uses does "{term}" have?',
        'I wonder how many times visitors looked for "{term}". Give me the number.',
        'What is the count of uses of the search term "{term}"?',
    ),
    generate=_term,
    expect=_expect_term,
    plan=lambda params: (
        Click("link", "Reports"),
        Click("link", "Search terms"),
        Fill("Search term", params["term"]),
        Click("button", "Apply Filters"),
        Read("uses", cell(params["term"], 1)),
        Stop(said("uses")),
    ),
    extra=1,
)


def _content(world: World, rng: random.Random) -> dict[str, Any]:
    row = rng.choice(world.rows("SELECT * FROM cms_page ORDER BY id"))
    return {"title": row["title"], "new": f"{rng.choice(_WORDS)} {row['title']}", "page_id": row["id"]}


_WORDS = ("All about:", "New:", "2026:", "Please read:", "Our", "Updated:", "More on:", "Guide:")


def _expect_content(world: World, params: Params) -> tuple[Check, ...]:
    update = Update(table="cms_page", id=params["page_id"], values={"title": params["new"]})
    now = Allow(table="cms_page", column="updated_at", reason="the moment at which it was saved")
    return (Database(updates=(update,), allow=(now,)),)


CONTENT = Template(
    name="admin.rename_page",
    family="content changed",
    kind=TaskKind.MUTATE,
    start=(ADMIN,),
    account="manager",
    phrasings=(
        'Change the title of the store\'s page "{title}" to "{new}".',
        'Among the pages of the shop, rename "{title}" to "{new}" and leave its URL key.',
        'The page called "{title}" shall bear the title "{new}".',
        'Give the content page "{title}" the new page title "{new}".',
        'Edit the page "{title}": its title becomes "{new}", nothing else changes.',
    ),
    generate=_content,
    expect=_expect_content,
    plan=lambda params: (
        Click("link", "Content"),
        Click("link", params["title"]),
        Fill("Page title", params["new"]),
        Click("button", "Save Page"),
        Stop(),
    ),
    extra=1,
)


def _rate(world: World, rng: random.Random) -> dict[str, Any]:
    row = rng.choice(world.rows("SELECT * FROM shipping_rate ORDER BY id"))
    cents = rng.randint(2, 25) * 100 + rng.choice((0, 50, 90))
    cents = cents if cents != row["price_cents"] else cents + 100
    return {"rate": row["name"], "price": facts.dollars(cents), "rate_id": row["id"]}


def _expect_rate(world: World, params: Params) -> tuple[Check, ...]:
    cents = int(params["price"].replace(".", ""))
    return (Database(updates=(Update(table="shipping_rate", id=params["rate_id"], values={"price_cents": cents}),)),)


RATE = Template(
    name="admin.change_shipping_price",
    family="setting changed",
    kind=TaskKind.MUTATE,
    start=(ADMIN,),
    account="manager",
    phrasings=(
        'Set the price of the shipping rate "{rate}" to {price}.',
        '"{rate}" shall cost {price} from now on. Change that shipping rate.',
        'Change what customers pay for "{rate}" to {price}, leaving the rest of the rate as it is.',
        'Update the shipping rates: the price of "{rate}" is {price}.',
        'The carrier raised prices; make the rate "{rate}" {price}.',
    ),
    generate=_rate,
    expect=_expect_rate,
    plan=lambda params: (
        Click("link", "Settings"),
        Click("link", params["rate"]),
        Fill("Price", params["price"]),
        Click("button", "Save Shipping Rate"),
        Stop(),
    ),
    extra=1,
)


def _user(world: World, rng: random.Random) -> dict[str, Any]:
    first, last = wording.full_name(rng)
    return {
        "first": first,
        "last": last,
        "username": f"{first}.{last}".lower(),
        "email": wording.email(rng),
        "role": rng.choice(world.column("SELECT name FROM admin_role ORDER BY id")),
        "password": wording.password(rng),
    }


def _expect_user(world: World, params: Params) -> tuple[Check, ...]:
    values: dict[str, Matcher] = {
        "username": params["username"],
        "password": params["password"],
        "email": params["email"],
        "first_name": params["first"],
        "last_name": params["last"],
        "role_id": world.value("SELECT id FROM admin_role WHERE name = ?", params["role"]),
        "active": 1,
    }
    now = Allow(table="admin_user", column="created_at", reason="the moment at which it was saved")
    return (Database(inserts=(Insert(table="admin_user", values=values),), allow=(now,)),)


USER = Template(
    name="admin.add_user",
    family="account made by the manager",
    kind=TaskKind.MUTATE,
    start=(ADMIN,),
    account="manager",
    phrasings=(
        'Give {first} {last} access to the administration: user name {username}, e-mail {email}, role "{role}", '
        "password {password}, active.",
        'Add the user {username} ({first} {last}, {email}) with the role "{role}" and the password {password}.',
        'Create an active admin account. Name: {first} {last}. User name: {username}. E-mail: {email}. Role: "{role}". '
        "Password: {password}.",
        '{first} {last} starts today as "{role}". Make a user {username} with {email} and the password {password}.',
        'Set up a colleague in the administration: {username}, {first} {last}, {email}; role "{role}"; password '
        "{password}.",
    ),
    generate=_user,
    expect=_expect_user,
    plan=lambda params: (
        Click("link", "Settings"),
        Click("link", "Users"),
        Click("link", "Add User"),
        Fill("User name", params["username"]),
        Fill("First name", params["first"]),
        Fill("Last name", params["last"]),
        Fill("Email", params["email"]),
        Choose("Role", params["role"]),
        Fill("Password", params["password"]),
        Click("button", "Save User"),
        Stop(),
    ),
    extra=2,
)

TEMPLATES = (
    OWNER,
    LIFETIME,
    GROUP,
    CLOSED,
    NEW_CUSTOMER,
    COUPON,
    STOPPED,
    SALES,
    BEST,
    FAN,
    TERM,
    CONTENT,
    RATE,
    USER,
)
