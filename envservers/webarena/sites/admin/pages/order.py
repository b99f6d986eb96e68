"""One order: what it is, and every form that changes it."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from envservers.webarena.site import SiteResponse
from envservers.webarena.sites.admin import order_deeds
from envservers.webarena.sites.admin.order_rules import Deed
from envservers.webarena.sites.common.formats import money, plain_money
from envservers.webarena.sites.common.forms import Form
from envservers.webarena.sites.common.page import Page
from envservers.webarena.sites.shop import orders
from envservers.webarena.sites.shop.orders import ADDRESS
from envservers.webarena.sites.shop.pages.address_form import address_values, read_address, regions
from envservers.webarena.state.database import Row
from envservers.webarena.world.vocabulary import CARRIERS, REFUND_REASONS

OrderPage = Callable[[Page, Row], SiteResponse]

_REFUSED: dict[Deed, str] = {
    "invoice": "This order cannot be invoiced.",
    "ship": "This order cannot be shipped.",
    "complete": "This order cannot be marked as complete.",
    "hold": "This order cannot be put on hold.",
    "unhold": "This order is not on hold.",
    "cancel": "This order cannot be canceled.",
    "refund": "This order cannot be refunded.",
    "edit_address": "The address of this order can no longer be changed.",
}


def _of(deed: Deed) -> Callable[[OrderPage], Callable[[Page], SiteResponse]]:
    """A page about an order that exists and allows this."""

    def wrap(answer: OrderPage) -> Callable[[Page], SiteResponse]:
        @wraps(answer)
        def page_function(page: Page) -> SiteResponse:
            row = _order(page)
            if row is None:
                return page.not_found()
            if deed not in order_deeds.possible(page.db, row):
                page.flash(_REFUSED[deed], "error")
                return page.go(_path(row))
            return answer(page, row)

        return page_function

    return wrap


def show(page: Page) -> SiteResponse:
    """Everything about it."""
    row = _order(page)
    if row is None:
        return page.not_found()
    key = row["id"]
    return page.render(
        "order.html",
        order=row,
        possible=order_deeds.possible(page.db, row),
        draft=page.draft(),
        lines=orders.lines(page.db, key),
        customer=_customer(page, row),
        invoices=page.db.all("SELECT * FROM invoice WHERE order_id = ? ORDER BY id", key),
        shipments=page.db.all("SELECT * FROM shipment WHERE order_id = ? ORDER BY id", key),
        refunds=page.db.all("SELECT * FROM refund WHERE order_id = ? ORDER BY id", key),
        notes=page.db.all("SELECT * FROM order_note WHERE order_id = ? ORDER BY created_at DESC, id DESC", key),
        returns=page.db.all(
            "SELECT return_request.*, name FROM return_request JOIN order_line ON order_line.id = order_line_id"
            " WHERE return_request.order_id = ? ORDER BY return_request.id",
            key,
        ),
    )


@_of("invoice")
def invoice_form(page: Page, row: Row) -> SiteResponse:
    """What will be invoiced."""
    return page.render("order_invoice.html", order=row, lines=orders.lines(page.db, row["id"]))


@_of("invoice")
def invoice(page: Page, row: Row) -> SiteResponse:
    """Invoice it."""
    number = order_deeds.invoice(page.db, page.now, row)
    page.flash(f"Invoice # {number} was created.")
    return page.go(_path(row))


@_of("ship")
def ship_form(page: Page, row: Row) -> SiteResponse:
    """By whom, and under which number."""
    return page.render(
        "order_ship.html",
        order=row,
        lines=orders.lines(page.db, row["id"]),
        draft=page.draft(),
        carriers=[(name, name) for name in CARRIERS],
    )


@_of("ship")
def ship(page: Page, row: Row) -> SiteResponse:
    """Send it."""
    form = Form(page.request.form)
    carrier = form.choice("carrier", "Carrier", CARRIERS)
    tracking = form.text("tracking", "Tracking number", limit=40)
    if form.errors:
        return page.refuse(form, page.path)
    number = order_deeds.ship(page.db, page.now, row, carrier, tracking)
    page.flash(f"Shipment # {number} was created.")
    return page.go(_path(row))


@_of("refund")
def refund_form(page: Page, row: Row) -> SiteResponse:
    """How much, and why."""
    left = order_deeds.state_of(page.db, row).left_cents
    return page.render(
        "order_refund.html",
        order=row,
        left=left,
        draft=page.draft(),
        start=plain_money(left),
        reasons=[("", "Please choose a reason"), *((reason, reason) for reason in REFUND_REASONS)],
    )


@_of("refund")
def refund(page: Page, row: Row) -> SiteResponse:
    """Pay it back."""
    form = Form(page.request.form)
    cents = form.cents("amount", "Amount to refund")
    reason = form.choice("reason", "Reason", REFUND_REASONS)
    left = order_deeds.state_of(page.db, row).left_cents
    if cents is not None and not 0 < cents <= left:
        form.errors["amount"] = f"Amount to refund: please enter an amount from 0.01 to {plain_money(left)}."
    if form.errors or cents is None:
        return page.refuse(form, page.path)
    number = order_deeds.refund(page.db, page.now, row, cents, reason)
    page.flash(f"Refund # {number} of {money(cents)} was created.")
    return page.go(_path(row))


@_of("cancel")
def ask_cancel(page: Page, row: Row) -> SiteResponse:
    """Whether it shall really be canceled."""
    return page.render("order_cancel.html", order=row)


@_of("cancel")
def cancel(page: Page, row: Row) -> SiteResponse:
    """Cancel it."""
    return _set(page, row, "cancel", "The order was canceled. Its items are back in stock.")


@_of("hold")
def hold(page: Page, row: Row) -> SiteResponse:
    """Let it wait."""
    return _set(page, row, "hold", "The order was put on hold.")


@_of("unhold")
def unhold(page: Page, row: Row) -> SiteResponse:
    """Let it go on."""
    return _set(page, row, "unhold", "The order was released from hold.")


@_of("complete")
def complete(page: Page, row: Row) -> SiteResponse:
    """It arrived."""
    return _set(page, row, "complete", "The order was marked as complete.")


@_of("edit_address")
def address_form(page: Page, row: Row) -> SiteResponse:
    """Where it goes."""
    return page.render(
        "order_address.html", order=row, start=address_values(row), regions=regions(page.db), draft=page.draft()
    )


@_of("edit_address")
def save_address(page: Page, row: Row) -> SiteResponse:
    """Send it elsewhere."""
    form = Form(page.request.form)
    typed = read_address(form, page.db)
    if form.errors:
        return page.refuse(form, page.path)
    page.db.write(
        f"UPDATE sales_order SET {', '.join(f'{name} = ?' for name in ADDRESS)} WHERE id = ?",
        *(*(typed[name] for name in ADDRESS), row["id"]),
    )
    page.flash("The shipping address was updated.")
    return page.go(_path(row))


def add_note(page: Page) -> SiteResponse:
    """Write beside it; what notifies is also read by the customer."""
    row = _order(page)
    if row is None:
        return page.not_found()
    form = Form(page.request.form)
    text = form.text("comment", "Comment", limit=1000, lines=True)
    if form.errors:
        return page.refuse(form, _path(row))
    page.db.write(
        "INSERT INTO order_note (order_id, created_at, author, text, notify) VALUES (?, ?, ?, ?, ?)",
        *(row["id"], page.now.time, _author(page), text, int(form.ticked("notify"))),
    )
    page.flash("The comment was added.")
    return page.go(_path(row))


def _order(page: Page) -> Row | None:
    return page.db.one("SELECT * FROM sales_order WHERE number = ?", page.params["number"])


def _customer(page: Page, row: Row) -> Row | None:
    return page.db.one(
        "SELECT customer.*, customer_group.name AS group_name FROM customer"
        " JOIN customer_group ON customer_group.id = group_id WHERE customer.id = ?",
        row["customer_id"],
    )


def _path(row: Row) -> str:
    return f"/orders/{row['number']}"


def _set(page: Page, row: Row, deed: Deed, text: str) -> SiteResponse:
    order_deeds.set_status(page.db, row, deed)
    page.flash(text)
    return page.go(_path(row))


def _author(page: Page) -> str:
    admin: Any = page.admin  # the routes need one
    return f"{admin['first_name']} {admin['last_name']}"
