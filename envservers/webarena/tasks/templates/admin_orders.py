"""The manager's work on orders, and what is looked up in the lists of their documents."""

from __future__ import annotations

import datetime
import random
import re
from collections.abc import Sequence
from typing import Any

from envservers.webarena.evaluators.answer import Answer
from envservers.webarena.evaluators.combine import TaskKind
from envservers.webarena.evaluators.database import Allow, Database, Insert, Update
from envservers.webarena.evaluators.evidence import Check
from envservers.webarena.evaluators.log import Request
from envservers.webarena.evaluators.status import Unachievable
from envservers.webarena.evaluators.url import Url
from envservers.webarena.evaluators.values import Matcher
from envservers.webarena.tasks import facts, wording
from envservers.webarena.tasks.observed import Line
from envservers.webarena.tasks.plan import Choose, Click, Fill, Plan, Read, Stop
from envservers.webarena.tasks.reading import cell, matching
from envservers.webarena.tasks.template import ADMIN, Params, Template
from envservers.webarena.tasks.templates.admin_steps import (
    HOST,
    REFUNDABLE,
    next_number,
    order_of,
    orders_with,
    paid,
    some_order,
    to_documents,
    to_order,
    to_orders,
)
from envservers.webarena.tasks.templates.shop_steps import said
from envservers.webarena.world.world import World

CARRIERS = ("Swiftpost", "Orrin Parcel", "Coastline Couriers")
REASONS = ("Returned goods", "Damaged on arrival", "Lost in transit", "Goodwill", "Order canceled after payment")
FILTERS = ("number", "customer", "status", "from", "to", "total_from", "total_to", "page")
ALL = ("pending", "processing", "shipped", "complete", "on_hold", "canceled", "closed")
MANAGER = "Nadia Reyes"


def found_in_list(lines: Sequence[Line]) -> str | None:
    """How many rows a filtered list has, as it says above itself."""
    for line in lines:
        found = re.fullmatch(r"(?:\w+s \d+ to \d+ of )?([\d,]+)(?: \w+)?", line.name)
        if line.role == "StaticText" and found and (" of " in line.name or re.search("[a-z]", line.name)):
            return found.group(1)
    return "0" if any(line.name.startswith("We could not find any") for line in lines) else None


def _any(world: World, rng: random.Random) -> dict[str, Any]:
    return {"order": some_order(world, rng, *ALL)["number"]}


def _expect_email(world: World, params: Params) -> tuple[Check, ...]:
    return (Answer(type="text", values=(order_of(world, params)["email"],)),)


EMAIL = Template(
    name="admin.order_email",
    family="order looked up",
    kind=TaskKind.RETRIEVE,
    start=(ADMIN,),
    account="manager",
    phrasings=(
        "Which e-mail address was order {order} placed with? Answer with the address alone.",
        "I have to write to whoever placed order {order}. What is the e-mail address?",
        "Find the e-mail address that belongs to order number {order}.",
        "Give me the customer's e-mail of order {order}, nothing else.",
        "Open order {order} and report the e-mail address in its account information.",
    ),
    generate=_any,
    expect=_expect_email,
    plan=lambda params: (*to_order(params["order"]), Read("email", matching(r"(\S+@\S+)")), Stop(said("email"))),
    extra=3,
)


def _status_in_month(world: World, rng: random.Random) -> dict[str, Any]:
    status = rng.choice(("complete", "canceled", "closed", "shipped", "on_hold"))
    month = rng.choice(facts.months_before(world.starts_at[:10], 20))
    year, number = int(month[:4]), int(month[5:])
    last = (datetime.date(year + number // 12, number % 12 + 1, 1) - datetime.timedelta(days=1)).isoformat()
    words = status.replace("_", " ")
    return {
        "status": words,
        "label": words.capitalize(),
        "month": facts.month_name(month),
        "first": f"{month}-01",
        "last": last,
    }


def _expect_status_in_month(world: World, params: Params) -> tuple[Check, ...]:
    count = world.value(
        "SELECT count(*) FROM sales_order WHERE status = ? AND substr(placed_at, 1, 7) = ?",
        *(params["status"].replace(" ", "_"), params["first"][:7]),
    )
    return (Answer(type="number", values=(str(count),)),)


STATUS_IN_MONTH = Template(
    name="admin.orders_in_month",
    family="list counted",
    kind=TaskKind.RETRIEVE,
    start=(ADMIN,),
    account="manager",
    phrasings=(
        'How many orders placed in {month} have the status "{status}"? Answer with a number.',
        'Count the orders from {month} whose status is "{status}" today. Digits only.',
        'Of all orders of {month}, how many are "{status}" now?',
        'I need the number of "{status}" orders among those placed in {month}.',
        'What is the count of orders dated {month} that stand at "{status}"?',
    ),
    generate=_status_in_month,
    expect=_expect_status_in_month,
    plan=lambda params: (
        *to_orders(
            Choose("Status", params["label"]), Fill("Date from", params["first"]), Fill("Date to", params["last"])
        ),
        Read("count", found_in_list),
        Stop(said("count")),
    ),
    extra=1,
)


def _refunded(world: World, rng: random.Random) -> dict[str, Any]:
    rows = world.rows(
        "SELECT number FROM sales_order WHERE (SELECT count(*) FROM refund WHERE order_id = sales_order.id) = 1 "
        "ORDER BY id"
    )
    return {"order": rng.choice(rows)["number"]}


def _expect_refunded(world: World, params: Params) -> tuple[Check, ...]:
    cents = world.value("SELECT amount_cents FROM refund WHERE order_id = ?", order_of(world, params)["id"])
    return (Answer(type="money", values=(facts.dollars(cents),)),)


REFUNDED = Template(
    name="admin.refund_amount",
    family="document looked up",
    kind=TaskKind.RETRIEVE,
    start=(ADMIN,),
    account="manager",
    phrasings=(
        "How much was refunded for order {order}? Answer with the amount.",
        "There is a refund for order number {order}. What is its amount?",
        "Look among the refunds and tell me what was paid back on order {order}.",
        "Which sum did we give back to the customer of order {order}? Just the amount.",
        "Report the refunded amount that belongs to order {order}.",
    ),
    generate=_refunded,
    expect=_expect_refunded,
    plan=lambda params: (
        *to_documents("Refunds", Fill("Order number", params["order"])),
        Read("amount", cell(params["order"], 5)),
        Stop(said("amount")),
    ),
    extra=1,
    held_out=True,
)


def _parcel(world: World, rng: random.Random) -> dict[str, Any]:
    last = world.value("SELECT max(id) FROM shipment")
    return {"tracking": world.value("SELECT tracking FROM shipment WHERE id = ?", rng.randint(1, last))}


def _expect_parcel(world: World, params: Params) -> tuple[Check, ...]:
    number = world.value(
        "SELECT sales_order.number FROM shipment JOIN sales_order ON sales_order.id = order_id WHERE tracking = ?",
        params["tracking"],
    )
    return (Answer(type="identifier", values=(number,)),)


PARCEL = Template(
    name="admin.order_of_parcel",
    family="document looked up",
    kind=TaskKind.RETRIEVE,
    start=(ADMIN,),
    account="manager",
    phrasings=(
        "A parcel with the tracking number {tracking} came back. Which order is it from? Answer with the order number.",
        "Find the order that was shipped under the tracking number {tracking}.",
        "To which order does the shipment {tracking} (tracking number) belong? Just the number of the order.",
        "Give me the order number for the tracking code {tracking}.",
        "Whose parcel is {tracking}? I need the number of the order.",
    ),
    generate=_parcel,
    expect=_expect_parcel,
    plan=lambda params: (
        *to_documents("Shipments", Fill("Tracking number", params["tracking"])),
        Read("order", cell(params["tracking"], 2)),
        Stop(said("order")),
    ),
    extra=1,
)


def _large(world: World, rng: random.Random) -> dict[str, Any]:
    status = rng.choice(ALL)
    words = status.replace("_", " ")
    return {"status": words, "label": words.capitalize(), "amount": rng.randint(2, 60) * 10}


def _expect_large(world: World, params: Params) -> tuple[Check, ...]:
    query = (("status", params["status"].replace(" ", "_")), ("total_from", str(params["amount"])))
    without = tuple(name for name in FILTERS if name not in ("status", "total_from"))
    return (Url(host=HOST, path="/orders", query=query, without=without),)


LARGE = Template(
    name="admin.show_large_orders",
    family="list shown",
    kind=TaskKind.NAVIGATE,
    start=(ADMIN,),
    account="manager",
    phrasings=(
        'Show me the orders with the status "{status}" whose grand total is {amount} dollars or more.',
        'Filter the orders: status "{status}", grand total from {amount}.',
        'I want the list of "{status}" orders that are worth at least {amount} dollars.',
        'Bring up all orders that are "{status}" with a grand total of no less than {amount}.',
        'Narrow the list of orders to "{status}" and to totals from {amount} upwards.',
    ),
    generate=_large,
    expect=_expect_large,
    plan=lambda params: (
        *to_orders(Choose("Status", params["label"]), Fill("Grand total from", str(params["amount"]))),
        Stop(),
    ),
    extra=1,
)


def _invoiced(world: World, rng: random.Random) -> dict[str, Any]:
    last = world.value("SELECT max(id) FROM invoice")
    row = world.row(
        "SELECT invoice.number AS invoice, sales_order.number FROM invoice "
        "JOIN sales_order ON sales_order.id = order_id WHERE invoice.id = ?",
        rng.randint(1, last),
    )
    return {"order": row["number"]}


def _expect_invoice_page(world: World, params: Params) -> tuple[Check, ...]:
    number = world.value("SELECT number FROM invoice WHERE order_id = ?", order_of(world, params)["id"])
    return (Url(host=HOST, path=f"/invoices/{number}"),)


INVOICE_PAGE = Template(
    name="admin.show_invoice",
    family="document shown",
    kind=TaskKind.NAVIGATE,
    start=(ADMIN,),
    account="manager",
    phrasings=(
        "Open the invoice of order {order}.",
        "Show me the invoice that was written for order {order}.",
        "I need the page of the invoice belonging to order number {order}.",
        "Find order {order}'s invoice and leave it open.",
        "Bring the invoice of order {order} onto the screen.",
    ),
    generate=_invoiced,
    expect=_expect_invoice_page,
    plan=lambda params: (
        *to_documents("Invoices", Fill("Order number", params["order"])),
        Click("link", "Invoice # ", starts=True),
        Stop(),
    ),
    extra=1,
    held_out=True,
)


def _unachievable(params: Params) -> tuple[Check, ...]:
    return (Unachievable(reveals=(Request(host=HOST, path=f"/orders/{params['order']}"),)),)


def _given_up(params: Params) -> Plan:
    return *to_order(params["order"]), Read("status", matching(r"(Order # \d+)")), Stop("N/A")


def _cancel(world: World, rng: random.Random) -> dict[str, Any]:
    if rng.random() < 0.5:
        return {"order": some_order(world, rng, "pending")["number"]}
    return {"order": some_order(world, rng, "shipped", "complete", "processing")["number"], "absent": True}


def _expect_cancel(world: World, params: Params) -> tuple[Check, ...]:
    if params.get("absent"):
        return _unachievable(params)
    order = order_of(world, params)
    updates = {("sales_order", order["id"]): Update(table="sales_order", id=order["id"], values={"status": "canceled"})}
    stocks: dict[tuple[str, int], int] = {}
    for line in world.rows("SELECT * FROM order_line WHERE order_id = ? ORDER BY id", order["id"]):
        for table, key in (("product", line["product_id"]), ("variant", line["variant_id"])):
            if key is not None:
                before = stocks.get((table, key), world.value(f"SELECT stock FROM {table} WHERE id = ?", key))
                stocks[table, key] = before + line["quantity"]
    changed = [Update(table=t, id=k, values={"stock": left}) for (t, k), left in stocks.items()]
    return (Database(updates=(*updates.values(), *changed)),)


CANCEL = Template(
    name="admin.cancel_order",
    family="order's status changed",
    kind=TaskKind.MUTATE,
    start=(ADMIN,),
    account="manager",
    phrasings=(
        "Cancel order {order}. Answer N/A if its state does not allow that.",
        "The customer of order {order} wants out. Cancel it, or reply N/A when it can no longer be canceled.",
        "Please cancel the order with the number {order}; say N/A if that is impossible.",
        "Order {order} must not be delivered: cancel it. Should there be no way to, the answer is N/A.",
        "See whether order {order} can still be canceled. If so do it, else answer N/A.",
    ),
    generate=_cancel,
    expect=_expect_cancel,
    plan=lambda params: (
        _given_up(params)
        if params.get("absent")
        else (
            *to_order(params["order"]),
            Click("link", "Cancel Order"),
            Click("button", "Cancel This Order"),
            Stop(),
        )
    ),
    extra=2,
    twins=True,
)


def _open(world: World, rng: random.Random) -> dict[str, Any]:
    return {"order": some_order(world, rng, "pending", "processing")["number"]}


def _expect_hold(world: World, params: Params) -> tuple[Check, ...]:
    return (
        Database(
            updates=(Update(table="sales_order", id=order_of(world, params)["id"], values={"status": "on_hold"}),)
        ),
    )


HOLD = Template(
    name="admin.hold_order",
    family="order's status changed",
    kind=TaskKind.MUTATE,
    start=(ADMIN,),
    account="manager",
    phrasings=(
        "Put order {order} on hold.",
        "Order {order} shall wait. Set it on hold.",
        "Hold the order with the number {order} for now.",
        "Something is wrong with {order}; place this order on hold.",
        "Stop the work on order {order} for the moment by putting it on hold.",
    ),
    generate=_open,
    expect=_expect_hold,
    plan=lambda params: (*to_order(params["order"]), Click("button", "Hold"), Stop()),
    extra=2,
)


def _ship(world: World, rng: random.Random) -> dict[str, Any]:
    carrier = rng.choice(CARRIERS)
    tracking = f"{carrier[:2].upper()}{rng.randint(10**8, 10**9 - 1)}"
    return {"order": some_order(world, rng, "processing")["number"], "carrier": carrier, "tracking": tracking}


def _expect_ship(world: World, params: Params) -> tuple[Check, ...]:
    order = order_of(world, params)
    values: dict[str, Matcher] = {
        "order_id": order["id"],
        "number": next_number(world, "shipment"),
        "carrier": params["carrier"],
        "tracking": params["tracking"],
    }
    return (
        Database(
            inserts=(Insert(table="shipment", values=values),),
            updates=(Update(table="sales_order", id=order["id"], values={"status": "shipped"}),),
            allow=(Allow(table="shipment", column="shipped_at", reason="the moment of the shipment"),),
        ),
    )


SHIP = Template(
    name="admin.ship_order",
    family="document written",
    kind=TaskKind.MUTATE,
    start=(ADMIN,),
    account="manager",
    phrasings=(
        "Order {order} leaves the house with {carrier}, tracking number {tracking}. Enter the shipment.",
        "Create the shipment of order {order}: carrier {carrier}, tracking {tracking}.",
        "Mark {order} as shipped by {carrier} under the tracking number {tracking}.",
        "Please ship order {order}. The parcel goes with {carrier} and has the number {tracking}.",
        "Record that {carrier} took the parcel of order {order} ({tracking} is its tracking number).",
    ),
    generate=_ship,
    expect=_expect_ship,
    plan=lambda params: (
        *to_order(params["order"]),
        Click("link", "Ship"),
        Choose("Carrier", params["carrier"]),
        Fill("Tracking number", params["tracking"]),
        Click("button", "Submit Shipment"),
        Stop(),
    ),
    extra=2,
)


def _pending(world: World, rng: random.Random) -> dict[str, Any]:
    return {"order": some_order(world, rng, "pending")["number"]}


def _expect_invoice(world: World, params: Params) -> tuple[Check, ...]:
    order = order_of(world, params)
    values: dict[str, Matcher] = {
        "order_id": order["id"],
        "number": next_number(world, "invoice"),
        "total_cents": order["total_cents"],
    }
    return (
        Database(
            inserts=(Insert(table="invoice", values=values),),
            updates=(Update(table="sales_order", id=order["id"], values={"status": "processing"}),),
            allow=(Allow(table="invoice", column="created_at", reason="the moment of the invoice"),),
        ),
    )


INVOICE = Template(
    name="admin.invoice_order",
    family="document written",
    kind=TaskKind.MUTATE,
    start=(ADMIN,),
    account="manager",
    phrasings=(
        "Write the invoice for order {order}.",
        "Order {order} has been paid. Invoice it.",
        "Create an invoice over everything in order {order}.",
        "Please invoice the order numbered {order} and submit that.",
        "Order {order} is waiting for its invoice; make one.",
    ),
    generate=_pending,
    expect=_expect_invoice,
    plan=lambda params: (
        *to_order(params["order"]),
        Click("link", "Invoice"),
        Click("button", "Submit Invoice"),
        Stop(),
    ),
    extra=3,
)


def _refund(world: World, rng: random.Random) -> dict[str, Any] | None:
    reason = rng.choice(REASONS)
    if rng.random() < 0.5:
        order = some_order(world, rng, "pending", "canceled", "on_hold")
        cents = rng.randint(2, max(3, order["total_cents"] // 200)) * 100
        return {"order": order["number"], "amount": facts.dollars(cents), "reason": reason, "absent": True}
    order = some_order(world, rng, *REFUNDABLE)
    left = paid(world, order)
    if left < 1000:
        return None
    cents = rng.randint(2, left // 200) * 100
    return {"order": order["number"], "amount": facts.dollars(cents), "reason": reason}


def _expect_refund(world: World, params: Params) -> tuple[Check, ...]:
    if params.get("absent"):
        return _unachievable(params)
    order = order_of(world, params)
    cents = int(params["amount"].replace(".", ""))
    values: dict[str, Matcher] = {
        "order_id": order["id"],
        "number": next_number(world, "refund"),
        "amount_cents": cents,
        "reason": params["reason"],
    }
    total = order["refunded_cents"] + cents
    return (
        Database(
            inserts=(Insert(table="refund", values=values),),
            updates=(Update(table="sales_order", id=order["id"], values={"refunded_cents": total}),),
            allow=(Allow(table="refund", column="created_at", reason="the moment of the refund"),),
        ),
    )


REFUND = Template(
    name="admin.refund_order",
    family="document written",
    kind=TaskKind.MUTATE,
    start=(ADMIN,),
    account="manager",
    phrasings=(
        'Refund ${amount} on order {order}, with the reason "{reason}". Answer N/A if the order cannot be refunded.',
        'Pay ${amount} back to the customer of order {order}; reason: "{reason}". If no refund is possible, say N/A.',
        'Give a refund of ${amount} for order {order} ("{reason}"), or reply N/A when the order does not allow one.',
        'Order {order} gets ${amount} back because of "{reason}". N/A if refunds are not offered for it.',
        'Enter a refund for {order}: amount ${amount}, reason "{reason}". Should that be impossible, answer N/A.',
    ),
    generate=_refund,
    expect=_expect_refund,
    plan=lambda params: (
        _given_up(params)
        if params.get("absent")
        else (
            *to_order(params["order"]),
            Click("link", "Refund"),
            Fill("Amount to refund", params["amount"]),
            Choose("Reason", params["reason"]),
            Click("button", "Submit Refund"),
            Stop(),
        )
    ),
    extra=2,
    twins=True,
)


def _note(world: World, rng: random.Random) -> dict[str, Any]:
    return {"order": some_order(world, rng, *ALL)["number"], "text": wording.staff_note(rng)}


def _expect_note(world: World, params: Params) -> tuple[Check, ...]:
    values: dict[str, Matcher] = {
        "order_id": order_of(world, params)["id"],
        "author": MANAGER,
        "text": params["text"],
        "notify": 1,
    }
    now = Allow(table="order_note", column="created_at", reason="the moment of the comment")
    return (Database(inserts=(Insert(table="order_note", values=values),), allow=(now,)),)


NOTE = Template(
    name="admin.comment_order",
    family="comment written",
    kind=TaskKind.MUTATE,
    start=(ADMIN,),
    account="manager",
    phrasings=(
        'Add this comment to order {order} and let the customer be notified by e-mail: "{text}"',
        'Comment on order {order}: "{text}" The customer shall get an e-mail about it.',
        'Write "{text}" beside order {order}, with the box for notifying the customer ticked.',
        'Tell the customer of order {order} by a comment that notifies: "{text}"',
        'Put a comment with notification onto order number {order}. It says: "{text}"',
    ),
    generate=_note,
    expect=_expect_note,
    plan=lambda params: (
        *to_order(params["order"]),
        Fill("Comment", params["text"]),
        Click("checkbox", "Notify customer by email", new_page=False),
        Click("button", "Submit Comment"),
        Stop(),
    ),
    extra=4,
)


def _address(world: World, rng: random.Random) -> dict[str, Any] | None:
    order = some_order(world, rng, "pending", "processing", "on_hold")
    new = {"street": wording.street(rng), "phone": wording.phone(rng)}
    return None if any(order[name] == text for name, text in new.items()) else {"order": order["number"], **new}


def _expect_address(world: World, params: Params) -> tuple[Check, ...]:
    values: dict[str, Matcher] = {"street": params["street"], "phone": params["phone"]}
    return (Database(updates=(Update(table="sales_order", id=order_of(world, params)["id"], values=values),)),)


ADDRESS = Template(
    name="admin.edit_order_address",
    family="order's address changed",
    kind=TaskKind.MUTATE,
    start=(ADMIN,),
    account="manager",
    phrasings=(
        "Order {order} goes to another street: {street}. The phone number changes to {phone}. Correct its address.",
        "In the shipping address of order {order}, set the street to {street} and the phone number to {phone}.",
        "Change where order {order} is sent: street {street}, phone {phone}; town and name stay.",
        "The customer of {order} moved to {street} and is reached at {phone} now. Update the address of that order.",
        "Edit the delivery address of order number {order}: new street {street}, new phone {phone}.",
    ),
    generate=_address,
    expect=_expect_address,
    plan=lambda params: (
        *to_order(params["order"]),
        Click("link", "Edit Address"),
        Fill("Street address", params["street"]),
        Fill("Phone number", params["phone"]),
        Click("button", "Save Address"),
        Stop(),
    ),
    extra=2,
    held_out=True,
)


def _requested(world: World, rng: random.Random) -> dict[str, Any] | None:
    rows = world.rows(
        "SELECT return_request.id, sales_order.number FROM return_request "
        "JOIN sales_order ON sales_order.id = order_id WHERE return_request.status = 'requested' "
        "AND (SELECT count(*) FROM return_request AS other WHERE other.order_id = sales_order.id) = 1 "
        "ORDER BY return_request.id"
    )
    if not rows:
        return None
    verb = rng.choice(("approve", "reject"))
    return {"order": rng.choice(rows)["number"], "verb": verb, "button": f"{verb.capitalize()} Return"}


def _expect_requested(world: World, params: Params) -> tuple[Check, ...]:
    number = world.value("SELECT id FROM return_request WHERE order_id = ?", order_of(world, params)["id"])
    status = {"approve": "approved", "reject": "rejected"}[params["verb"]]
    return (Database(updates=(Update(table="return_request", id=number, values={"status": status}),)),)


RETURN = Template(
    name="admin.answer_return",
    family="return answered",
    kind=TaskKind.MUTATE,
    start=(ADMIN,),
    account="manager",
    phrasings=(
        "There is an open return for order {order}; {verb} it.",
        "Decide on the return of order {order}: {verb} it.",
        "Find the return request that belongs to order {order} and {verb} it.",
        "The customer of order {order} asked to send something back. Please {verb} the return.",
        "Go to the returns and {verb} the one of order number {order}.",
    ),
    generate=_requested,
    expect=_expect_requested,
    plan=lambda params: (
        *to_documents("Returns", Fill("Order number", params["order"])),
        Click("link", "Return # ", starts=True),
        Click("button", params["button"]),
        Stop(),
    ),
    extra=1,
)


def _two_shipped(world: World, rng: random.Random) -> dict[str, Any] | None:
    """Two shipped orders of one name, found together by it."""
    order = some_order(world, rng, "shipped")
    name = f"{order['first_name']} {order['last_name']}"
    same = [o for o in orders_with(world, "shipped") if f"{o['first_name']} {o['last_name']}" == name]
    if len(same) < 2:
        return None
    one, two = sorted(row["number"] for row in rng.sample(same, 2))
    return {"one": one, "two": two, "name": name}


def _expect_two(world: World, params: Params) -> tuple[Check, ...]:
    ids = [world.value("SELECT id FROM sales_order WHERE number = ?", params[slot]) for slot in ("one", "two")]
    return (Database(updates=tuple(Update(table="sales_order", id=n, values={"status": "complete"}) for n in ids)),)


BULK = Template(
    name="admin.complete_two_orders",
    family="order's status changed",
    kind=TaskKind.MUTATE,
    start=(ADMIN,),
    account="manager",
    phrasings=(
        "Mark the two shipped orders {one} and {two} of {name} as complete.",
        "Orders {one} and {two} ({name}) have arrived. Set both of them to complete.",
        "{name} received {one} as well as {two}: complete these orders.",
        "Complete order {one} and order {two}, both for {name}.",
        "The parcels of {one} and of {two} reached {name}. Update both orders to the status complete.",
    ),
    generate=_two_shipped,
    expect=_expect_two,
    plan=lambda params: (
        *to_orders(Fill("Customer name or email", params["name"]), Choose("Status", "Shipped")),
        Click("checkbox", f"Select order {params['one']}", new_page=False),
        Click("checkbox", f"Select order {params['two']}", new_page=False),
        Choose("Action for selected orders", "Mark as complete"),
        Click("button", "Submit"),
        Stop(),
    ),
    extra=4,
    held_out=True,
)

TEMPLATES = (
    EMAIL,
    STATUS_IN_MONTH,
    REFUNDED,
    PARCEL,
    LARGE,
    INVOICE_PAGE,
    CANCEL,
    HOLD,
    SHIP,
    INVOICE,
    REFUND,
    NOTE,
    ADDRESS,
    RETURN,
    BULK,
)
