"""The shopper's orders: what they were, what became of them, and what can still be done with them."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from decimal import Decimal
from functools import lru_cache
from sqlite3 import Row
from typing import Any

from envservers.webarena.evaluators.answer import Answer
from envservers.webarena.evaluators.combine import TaskKind
from envservers.webarena.evaluators.database import Allow, Database, Insert, Update
from envservers.webarena.evaluators.evidence import Check
from envservers.webarena.evaluators.log import Request
from envservers.webarena.evaluators.status import Unachievable
from envservers.webarena.evaluators.url import Url
from envservers.webarena.tasks import facts
from envservers.webarena.tasks.facts import SHOPPER
from envservers.webarena.tasks.observed import Line, below
from envservers.webarena.tasks.plan import Choose, Click, Fill, Gather, Memory, Page, Plan, Read, Step, Stop, Within
from envservers.webarena.tasks.reading import cell, matching
from envservers.webarena.tasks.template import Params, Template
from envservers.webarena.tasks.templates.shop_steps import HOST, said, to_account
from envservers.webarena.world.world import World

PER_PAGE = 10
"""Orders on one page of the list."""
RETURNABLE = ("shipped", "complete")
STATUSES = ("pending", "processing", "shipped", "complete", "on_hold", "canceled", "closed")
REASONS = ("Damaged on arrival", "Faulty", "Wrong item sent", "Does not fit", "Not as described", "Changed my mind")
_DAY = r"\w{3} \d+, \d{4}"
_MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]


@lru_cache(maxsize=4)
def my_orders(world: World) -> tuple[Row, ...]:
    """The shopper's orders, the newest first, as the list has them."""
    return tuple(
        world.rows("SELECT * FROM sales_order WHERE customer_id = ? ORDER BY placed_at DESC, id DESC", SHOPPER)
    )


def my_order(world: World, params: Params) -> Row:
    """The order that the slot `order` names."""
    return world.row("SELECT * FROM sales_order WHERE number = ?", params["order"])


def to_order(number: str) -> tuple[Step, ...]:
    """To the page of one of the shopper's orders."""
    return *to_account("My orders"), Page("link", number), Click("link", number)


def _some_order(world: World, rng: random.Random) -> dict[str, Any]:
    return {"order": rng.choice(my_orders(world))["number"]}


def _mine_or_not(world: World, rng: random.Random) -> dict[str, Any]:
    """An order of the shopper's, or one of somebody else's between two of hers."""
    mine = my_orders(world)
    if rng.random() < 0.5:
        return {"order": rng.choice(mine)["number"]}
    place = rng.randrange(len(mine) - 1)
    newer, older = int(mine[place]["number"]), int(mine[place + 1]["number"])
    if newer - older < 2:
        return {"order": rng.choice(mine)["number"]}
    number = f"{rng.randrange(older + 1, newer):09d}"
    return {"order": number, "absent": True, "page": place // PER_PAGE + 1}


def _expect_total(world: World, params: Params) -> tuple[Check, ...]:
    if params.get("absent"):
        query = (("page", str(params["page"])),) if params["page"] > 1 else ()
        listed = Request(host=HOST, path="/account/orders", query=query)
        opened = Request(host=HOST, path=f"/account/orders/{params['order']}", missing=True)
        return (Unachievable(reveals=(listed,), or_one=(opened,)),)
    return (Answer(type="money", values=(facts.dollars(my_order(world, params)["total_cents"]),)),)


def _plan_total(params: Params) -> Plan:
    if params.get("absent"):
        return *to_account("My orders"), *[Click("link", "Next")] * (params["page"] - 1), Stop("N/A")
    return (
        *to_account("My orders"),
        Page("link", params["order"]),
        Read("total", cell(params["order"], 4)),
        Stop(said("total")),
    )


TOTAL = Template(
    name="shop.order_total",
    family="order fact",
    kind=TaskKind.RETRIEVE,
    phrasings=(
        "What was the total of my order {order}? Answer with the amount, or N/A if I have no such order.",
        "How much did I pay for order {order}? Just the amount please; say N/A should the order not be mine.",
        "Look up order {order} among my orders and report its total (N/A if it is not among them).",
        "Tell me the order total of number {order} in my account. Reply N/A when there is none.",
        "For my purchase with the number {order}, which sum was charged? Amount only, or N/A if it does not exist.",
    ),
    generate=_mine_or_not,
    expect=_expect_total,
    plan=_plan_total,
    extra=5,
    twins=True,
)


def _sent_order(world: World, rng: random.Random) -> dict[str, Any]:
    sent = [row for row in my_orders(world) if _shipments(world, row["id"]) == 1]
    return {"order": rng.choice(sent)["number"]}


def _shipments(world: World, order_id: int) -> int:
    count: int = world.value("SELECT count(*) FROM shipment WHERE order_id = ?", order_id)
    return count


def _expect_tracking(world: World, params: Params) -> tuple[Check, ...]:
    number = world.value("SELECT tracking FROM shipment WHERE order_id = ?", my_order(world, params)["id"])
    return (Answer(type="text", values=(number,)),)


TRACKING = Template(
    name="shop.order_tracking",
    family="order fact",
    kind=TaskKind.RETRIEVE,
    phrasings=(
        "Under which tracking number was my order {order} shipped? Answer with that number only.",
        "I need the tracking number of the parcel of order {order}.",
        "Find the shipment of my order {order} and give me its tracking number, nothing else.",
        "Which tracking code belongs to order number {order} of mine? Only the code.",
        "Report the carrier's tracking number for what I ordered as {order}.",
    ),
    generate=_sent_order,
    expect=_expect_tracking,
    plan=lambda params: (
        *to_order(params["order"]),
        Read("tracking", matching(r"([A-Z]{2}\d{9,})", role="cell")),
        Stop(said("tracking")),
    ),
    extra=6,
)


def _invoiced(world: World, rng: random.Random) -> dict[str, Any]:
    count = "SELECT count(*) FROM invoice WHERE order_id = ?"
    found = [row for row in my_orders(world) if world.value(count, row["id"]) == 1]
    return {"order": rng.choice(found)["number"]}


def _expect_invoice(world: World, params: Params) -> tuple[Check, ...]:
    number = world.value("SELECT number FROM invoice WHERE order_id = ?", my_order(world, params)["id"])
    return (Answer(type="identifier", values=(number,)),)


INVOICE = Template(
    name="shop.invoice_number",
    family="order fact",
    kind=TaskKind.RETRIEVE,
    phrasings=(
        "What is the number of the invoice for my order {order}? Answer with the invoice number alone.",
        "My bookkeeping wants the invoice number that belongs to order {order}. Please find it.",
        "Give me the number of the invoice that the shop wrote for order {order}.",
        "Order {order} was invoiced; under which invoice number? Only digits.",
        "Look at the invoice of my order {order} and tell me how it is numbered.",
    ),
    generate=_invoiced,
    expect=_expect_invoice,
    plan=lambda params: (
        *to_order(params["order"]),
        Click("link", "View invoice"),
        Read("number", matching(r"Invoice # (\d+)", role="heading")),
        Stop(said("number")),
    ),
    extra=6,
    held_out=True,
)


def _status_year(world: World, rng: random.Random) -> dict[str, Any]:
    years = sorted({row["placed_at"][:4] for row in my_orders(world)})
    status = rng.choice(STATUSES)
    return {"status": status.replace("_", " "), "label": _label(status), "year": rng.choice(years)}


def _label(status: str) -> str:
    """As pages write it."""
    return status.replace("_", " ").capitalize()


def _expect_status_year(world: World, params: Params) -> tuple[Check, ...]:
    count = world.value(
        "SELECT count(*) FROM sales_order WHERE customer_id = ? AND status = ? AND substr(placed_at, 1, 4) = ?",
        *(SHOPPER, params["status"].replace(" ", "_"), params["year"]),
    )
    return (Answer(type="number", values=(str(count),)),)


def _of_year(year: str) -> Any:
    return lambda memory: str(sum(order.split("|")[1].endswith(year) for order in memory["orders"].splitlines()))


STATUS_YEAR = Template(
    name="shop.orders_with_status",
    family="orders counted",
    kind=TaskKind.RETRIEVE,
    phrasings=(
        'How many of the orders that I placed in {year} have the status "{status}" now? Answer with a number.',
        'Count my orders from {year} whose status is "{status}". Digits only; 0 if there are none.',
        'Among my purchases of the year {year}, how many stand at "{status}"?',
        'Give me the number of orders placed by me in {year} that are "{status}" at present.',
        'In my account, what is the count of {year} orders with "{status}" as their status?',
    ),
    generate=_status_year,
    expect=_expect_status_year,
    plan=lambda params: (
        *to_account("My orders"),
        Choose("Show orders", params["label"]),
        Click("button", "Filter"),
        Gather("orders", _orders),
        Stop(_of_year(params["year"])),
    ),
    extra=5,
)


def _month(world: World, rng: random.Random) -> dict[str, Any]:
    months = sorted({row["placed_at"][:7] for row in my_orders(world)})
    month = rng.choice(months)
    return {"month": facts.month_name(month), "key": f"{_MONTHS[int(month[5:]) - 1]} {month[:4]}"}


def _expect_month(world: World, params: Params) -> tuple[Check, ...]:
    orders = [row for row in my_orders(world) if facts.month_name(row["placed_at"][:7]) == params["month"]]
    return (Answer(type="money", values=(facts.dollars(sum(row["total_cents"] for row in orders)),)),)


def _orders(lines: Sequence[Line]) -> list[str]:
    """`000000123|Mar 2, 2026|$12.00` of every order in the list."""
    found = []
    for place, line in enumerate(lines):
        names = [each.name for each in below(lines, place)] if line.role == "row" else []
        number = next((name for name in names if re.fullmatch(r"\d{9}", name)), "")
        day = next((name for name in names if re.fullmatch(_DAY, name)), "")
        total = next((name for name in names if name.startswith("$")), "")
        if number and day and total:
            found.append(f"{number}|{day}|{total}")
    return found


def _spent(key: str) -> Any:
    month, year = key.split()

    def add(memory: Memory) -> str:
        orders = [line.split("|") for line in memory["orders"].splitlines()]
        wanted = [total for _, day, total in orders if day.startswith(month) and day.endswith(year)]
        return f"${sum((Decimal(total.strip('$').replace(',', '')) for total in wanted), Decimal(0))}"

    return add


SPENT = Template(
    name="shop.spent_in_month",
    family="orders summed up",
    kind=TaskKind.RETRIEVE,
    phrasings=(
        "How much do the totals of all orders that I placed in {month} add up to, whatever their status? "
        "Answer with the amount.",
        "Sum up the order totals of my purchases from {month} (orders of any status) and give me the amount.",
        "What did my orders of {month} cost in all, counting every status? One amount, please.",
        "I would like the sum of the totals of every order I made in {month}, canceled ones too.",
        "Add together all order totals dated {month} in my account, regardless of status. Amount only.",
    ),
    generate=_month,
    expect=_expect_month,
    plan=lambda params: (
        *to_account("My orders"),
        Gather("orders", _orders),
        Stop(_spent(params["key"])),
    ),
    extra=9,
)


def _any_order(world: World, rng: random.Random) -> dict[str, Any]:
    last = world.value("SELECT max(id) FROM sales_order")
    row = world.row("SELECT number, email FROM sales_order WHERE id = ?", rng.randint(1, last))
    return {"order": row["number"], "email": row["email"]}


def _expect_tracked(world: World, params: Params) -> tuple[Check, ...]:
    return (Answer(type="money", values=(facts.dollars(my_order(world, params)["shipping_cents"]),)),)


TRACKED = Template(
    name="shop.guest_tracks_order",
    family="order of a guest",
    kind=TaskKind.RETRIEVE,
    account="",
    phrasings=(
        "I ordered without logging in: number {order}, e-mail {email}. How much was charged for shipping and handling? "
        "Answer with the amount.",
        "Track order {order} (e-mail address {email}) and tell me its shipping and handling costs.",
        "What did shipping and handling cost for order {order}? The order was placed with {email}. Amount only.",
        "With the order number {order} and the address {email}, find out the shipping and handling fee of the order.",
        "Use order tracking for {order} / {email}: which amount stands there for shipping and handling?",
    ),
    generate=_any_order,
    expect=_expect_tracked,
    plan=lambda params: (
        Click("link", "Track an order"),
        Fill("Order number", params["order"]),
        Fill("Email", params["email"]),
        Click("button", "Track Order"),
        Read("fee", _after_fee),
        Stop(said("fee")),
    ),
    extra=3,
)


def _after_fee(lines: Sequence[Line]) -> str | None:
    names = [line.name for line in lines]
    if "Shipping and handling" not in names:
        return None
    return next((name for name in names[names.index("Shipping and handling") :] if name.startswith("$")), None)


def _expect_return_form(world: World, params: Params) -> tuple[Check, ...]:
    return (Url(host=HOST, path=f"/account/orders/{params['order']}/return"),)


@lru_cache(maxsize=4)
def _returnable_lines(world: World) -> tuple[Row, ...]:
    return tuple(line for row in my_orders(world) if row["status"] in RETURNABLE for line in _left(world, row["id"]))


def _returnable(world: World, rng: random.Random) -> dict[str, Any]:
    return {"order": rng.choice(_returnable_lines(world))["number"]}


def _left(world: World, order_id: int) -> list[Row]:
    """Lines of an order of which nothing was asked to be returned."""
    return world.rows(
        "SELECT order_line.*, sales_order.number FROM order_line JOIN sales_order ON sales_order.id = order_id "
        "WHERE order_id = ? AND NOT EXISTS (SELECT 1 FROM return_request WHERE order_line_id = order_line.id) "
        "ORDER BY order_line.id",
        order_id,
    )


RETURN_FORM = Template(
    name="shop.open_return_form",
    family="page of an order",
    kind=TaskKind.NAVIGATE,
    phrasings=(
        "Open the form for returning items of my order {order}. Do not fill it in.",
        "Bring me to where I can request a return for order {order}; I will do the rest.",
        "I want to send something of order {order} back. Just open the return form for me.",
        "Go to the return form of order number {order} and stop there.",
        "Show me the page on which items from my order {order} can be returned.",
    ),
    generate=_returnable,
    expect=_expect_return_form,
    plan=lambda params: (*to_order(params["order"]), Click("link", "Return items"), Stop()),
    extra=5,
)


def _return(world: World, rng: random.Random) -> dict[str, Any] | None:
    """A line that can be returned, or an order that cannot be."""
    if rng.random() < 0.5:
        return _no_return(world, rng)
    lines = [line for line in _returnable_lines(world) if len(line["name"]) <= 70]
    line = rng.choice(lines)
    same = [other for other in lines if (other["order_id"], other["name"]) == (line["order_id"], line["name"])]
    if len(same) > 1:
        return None
    return {"order": line["number"], "item": line["name"], "reason": rng.choice(REASONS), "line": line["id"]}


def _no_return(world: World, rng: random.Random) -> dict[str, Any] | None:
    orders = [row for row in my_orders(world) if row["status"] in ("pending", "processing", "on_hold", "canceled")]
    if not orders:
        return None
    order = rng.choice(orders)
    lines = world.rows("SELECT id, name FROM order_line WHERE order_id = ? ORDER BY id", order["id"])
    line = rng.choice(lines)
    return {
        "order": order["number"],
        "item": line["name"],
        "reason": rng.choice(REASONS),
        "line": line["id"],
        "absent": True,
    }


WRITTEN = Allow(table="return_request", column="created_at", reason="the moment at which the form was sent")


def _expect_return(world: World, params: Params) -> tuple[Check, ...]:
    if params.get("absent"):
        return (Unachievable(reveals=(Request(host=HOST, path=f"/account/orders/{params['order']}"),)),)
    row = Insert(
        table="return_request",
        values={
            "order_id": my_order(world, params)["id"],
            "order_line_id": params["line"],
            "quantity": 1,
            "reason": params["reason"],
            "comment": "",
            "status": "requested",
        },
    )
    return (Database(inserts=(row,), allow=(WRITTEN,)),)


def _plan_return(params: Params) -> Plan:
    if params.get("absent"):
        return *to_order(params["order"]), Read("status", matching(r"(Placed on .*)")), Stop("N/A")
    return (
        *to_order(params["order"]),
        Click("link", "Return items"),
        Choose("Item", params["item"], starts=True),
        Choose("Reason", params["reason"]),
        Click("button", "Request Return"),
        Stop(),
    )


RETURN = Template(
    name="shop.request_return",
    family="return requested",
    kind=TaskKind.MUTATE,
    phrasings=(
        'Request a return of one "{item}" from my order {order}, for the reason "{reason}", without a comment. '
        "Answer N/A if the shop does not let me.",
        'I want to send back 1 x "{item}" of order {order}. Reason: "{reason}". No comment. '
        "Should returns not be offered for it, say N/A.",
        'Ask the shop to take back a single "{item}" out of order {order}, giving "{reason}" as the reason and leaving '
        "the comment empty. If that is not possible, answer N/A.",
        'File a return for order {order}: item "{item}", quantity 1, reason "{reason}", no further words. '
        "N/A if it cannot be done.",
        'Please return one piece of "{item}" (order {order}) because of: {reason}. Leave no comment, and tell me N/A '
        "when a return is out of the question.",
    ),
    generate=_return,
    expect=_expect_return,
    plan=_plan_return,
    extra=6,
    twins=True,
)


def _again(world: World, rng: random.Random) -> dict[str, Any] | None:
    order = rng.choice(my_orders(world))
    return {"order": order["number"]} if _available(world, order["id"]) else None


def _available(world: World, order_id: int) -> list[Row]:
    """Lines whose product is still sold and there in the quantity of then."""
    return world.rows(
        "SELECT order_line.* FROM order_line JOIN product ON product.id = order_line.product_id "
        "LEFT JOIN variant ON variant.id = variant_id WHERE order_id = ? AND product.status = 'enabled' "
        "AND coalesce(variant.stock, product.stock) >= order_line.quantity ORDER BY order_line.id",
        order_id,
    )


def _expect_again(world: World, params: Params) -> tuple[Check, ...]:
    cart = world.value("SELECT id FROM cart WHERE customer_id = ?", SHOPPER)
    inserts, updates = [], []
    for line in _available(world, my_order(world, params)["id"]):
        there = world.rows(
            "SELECT * FROM cart_line WHERE cart_id = ? AND product_id = ? AND variant_id IS ?",
            *(cart, line["product_id"], line["variant_id"]),
        )
        if there:
            quantity = there[0]["quantity"] + line["quantity"]
            updates.append(Update(table="cart_line", id=there[0]["id"], values={"quantity": quantity}))
            continue
        values = {name: line[name] for name in ("product_id", "variant_id", "quantity")}
        inserts.append(Insert(table="cart_line", values={"cart_id": cart, **values}))
    return (Database(inserts=tuple(inserts), updates=tuple(updates)),)


AGAIN = Template(
    name="shop.reorder",
    family="cart filled",
    kind=TaskKind.MUTATE,
    phrasings=(
        "Put everything from my order {order} that can still be bought into the cart again.",
        "Reorder {order}: fill my cart with its items, as far as they are available.",
        "I would like to buy the contents of order {order} once more. Add them to the cart, do not check out.",
        "Use the reorder function for my order number {order} and leave the items in the cart.",
        "Get the items of order {order} back into my shopping cart in one go.",
    ),
    generate=_again,
    expect=_expect_again,
    plan=lambda params: (
        *to_account("My orders"),
        Page("link", params["order"]),
        Click("button", "Reorder", Within("row", params["order"])),
        Stop(),
    ),
    extra=5,
)

TEMPLATES = (TOTAL, TRACKING, INVOICE, STATUS_YEAR, SPENT, TRACKED, RETURN_FORM, RETURN, AGAIN)
