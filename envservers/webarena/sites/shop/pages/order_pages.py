"""The customer's orders: list, one order, its invoices, buying again, sending back; and tracking without an account."""

from __future__ import annotations

from typing import Any

from envservers.webarena.site import SiteResponse
from envservers.webarena.sites.common.formats import words
from envservers.webarena.sites.common.forms import Form
from envservers.webarena.sites.common.page import Page
from envservers.webarena.sites.common.paging import pages
from envservers.webarena.sites.shop import baskets, catalogue, orders
from envservers.webarena.state.database import Row
from envservers.webarena.world.vocabulary import RETURN_REASONS

PER_PAGE = 10


def history(page: Page) -> SiteResponse:
    """All orders, or those of one status."""
    me = _me(page)
    status = page.asked("status") if page.asked("status") in orders.STATUSES else ""
    cut = pages(orders.count(page.db, me, status), page.asked("page"), PER_PAGE)
    rows = orders.history(page.db, me, status, limit=PER_PAGE, skip=cut.skipped)
    choices = [(code, words(code)) for code in orders.STATUSES]
    return page.render("orders.html", orders=rows, pages=cut, chosen=status, statuses=choices)


def show(page: Page) -> SiteResponse:
    """One order."""
    row = _order(page)
    return page.render("order.html", order=row, **_details(page, row)) if row else page.not_found()


def invoice(page: Page) -> SiteResponse:
    """Its invoices."""
    row = _order(page)
    if row is None:
        return page.not_found()
    found = page.db.all("SELECT * FROM invoice WHERE order_id = ? ORDER BY id", row["id"])
    if not found:
        return page.go(f"/account/orders/{row['number']}")
    return page.render("invoice.html", order=row, invoices=found, lines=orders.lines(page.db, row["id"]))


def reorder(page: Page) -> SiteResponse:
    """Put what can still be bought into the cart."""
    row = _order(page)
    if row is None:
        return page.not_found()
    lines = orders.lines(page.db, row["id"])
    missing = [line["name"] for line in lines if not _again(page, line)]
    if len(missing) < len(lines):
        page.flash(f"The items of order {row['number']} were added to your cart.")
    if missing:
        page.flash(f"No longer available and not added: {', '.join(missing)}.", "error")
    return page.go("/cart")


def return_form(page: Page) -> SiteResponse:
    """What comes back, and why."""
    row = _order(page)
    if row is None:
        return page.not_found()
    left = _left_to_return(page, row)
    if row["status"] not in orders.RETURNABLE or not left:
        page.flash("Nothing of this order can be returned.", "error")
        return page.go(f"/account/orders/{row['number']}")
    return page.render("return_form.html", order=row, left=left, draft=page.draft(), reasons=RETURN_REASONS)


def send_return(page: Page) -> SiteResponse:
    """Ask for it."""
    row = _order(page)
    if row is None:
        return page.not_found()
    path = f"/account/orders/{row['number']}"
    left = {str(line["id"]): number for line, number in _left_to_return(page, row)}
    if row["status"] not in orders.RETURNABLE or not left:
        return page.go(f"{path}/return")
    form = Form(page.request.form)
    line_id = form.choice("line", "Item", left)
    quantity = form.number("quantity", "Quantity", low=1, high=left.get(line_id, 1))
    reason = form.choice("reason", "Reason", RETURN_REASONS)
    comment = form.text("comment", "Comment", limit=1000, needed=False, lines=True)
    if form.errors:
        return page.refuse(form, f"{path}/return")
    page.db.write(
        "INSERT INTO return_request (order_id, order_line_id, quantity, reason, comment, status, created_at)"
        " VALUES (?, ?, ?, ?, ?, 'requested', ?)",
        *(row["id"], int(line_id), quantity, reason, comment, page.now.time),
    )
    page.flash("We received your return request. We will answer within two working days.")
    return page.go(path)


def returns(page: Page) -> SiteResponse:
    """All that one asked to send back."""
    found = page.db.all(
        "SELECT return_request.*, sales_order.number, order_line.name FROM return_request"
        " JOIN sales_order ON sales_order.id = return_request.order_id"
        " JOIN order_line ON order_line.id = order_line_id"
        " WHERE customer_id = ? ORDER BY return_request.created_at DESC, return_request.id DESC",
        _me(page),
    )
    return page.render("returns.html", returns=found)


def track(page: Page) -> SiteResponse:
    """An order by its number and e-mail address."""
    number, email = page.asked("number").strip(), page.asked("email").strip()
    row = orders.of_guest(page.db, number, email) if number and email else None
    details = _details(page, row) if row else {}
    return page.render("track.html", number=number, email=email, order=row, **details)


def _me(page: Page) -> int:
    assert page.customer is not None  # the routes need a customer
    return int(page.customer["id"])


def _order(page: Page) -> Row | None:
    return orders.of_customer(page.db, _me(page), str(page.params["number"]))


def _details(page: Page, row: Row) -> dict[str, Any]:
    key = row["id"]
    return {
        "lines": orders.lines(page.db, key),
        "shipments": page.db.all("SELECT * FROM shipment WHERE order_id = ? ORDER BY id", key),
        "invoices": page.db.all("SELECT * FROM invoice WHERE order_id = ? ORDER BY id", key),
        "refunds": page.db.all("SELECT * FROM refund WHERE order_id = ? ORDER BY id", key),
        "notes": page.db.all("SELECT * FROM order_note WHERE order_id = ? AND notify ORDER BY created_at, id", key),
        "returns": page.db.all(
            "SELECT return_request.*, name FROM return_request JOIN order_line ON order_line.id = order_line_id"
            " WHERE return_request.order_id = ? ORDER BY return_request.id",
            key,
        ),
        "returnable": row["status"] in orders.RETURNABLE and bool(_left_to_return(page, row)),
    }


def _left_to_return(page: Page, row: Row) -> list[tuple[Row, int]]:
    """Lines with how much of each can still come back."""
    gone = orders.returned(page.db, row["id"])
    found = [(line, line["quantity"] - gone.get(line["id"], 0)) for line in orders.lines(page.db, row["id"])]
    return [(line, number) for line, number in found if number > 0]


def _again(page: Page, line: Row) -> bool:
    """Put a line of an old order into the cart, if it is there."""
    product = catalogue.product_by_id(page.db, line["product_id"])
    if product is None:
        return False
    left = product["stock"]
    if line["variant_id"]:
        left = page.db.value("SELECT stock FROM variant WHERE id = ?", line["variant_id"]) or 0
    if left < line["quantity"]:
        return False
    baskets.add(page, product["id"], line["variant_id"], line["quantity"])
    return True
