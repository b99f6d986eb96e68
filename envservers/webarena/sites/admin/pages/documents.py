"""Invoices, shipments, refunds and returns of all orders."""

from __future__ import annotations

from envservers.webarena.site import SiteResponse
from envservers.webarena.sites.admin.grid import Column, Filters, grid
from envservers.webarena.sites.common.formats import words
from envservers.webarena.sites.common.page import Page
from envservers.webarena.sites.shop import orders
from envservers.webarena.state.database import Row
from envservers.webarena.world.vocabulary import CARRIERS, REFUND_REASONS

RETURN_STATUSES = ("requested", "approved", "rejected", "received")
RETURN_STEPS = {"requested": ("approved", "rejected"), "approved": ("received",)}
"""What can become of a return; rejected and received ones stay."""

_ORDER = Column("order", "Order", "sales_order.number")
_BILL_TO = Column("customer", "Customer", "first_name || ' ' || last_name")
_INVOICES = (
    Column("number", "Invoice", "invoice.number"),
    Column("date", "Invoice date", "invoice.created_at"),
    _ORDER,
    _BILL_TO,
    Column("amount", "Amount", "invoice.total_cents", number=True),
)
_SHIPMENTS = (
    Column("number", "Shipment", "shipment.number"),
    Column("date", "Shipped on", "shipped_at"),
    _ORDER,
    _BILL_TO,
    Column("carrier", "Carrier", "carrier"),
    Column("tracking", "Tracking number"),
)
_REFUNDS = (
    Column("number", "Refund", "refund.number"),
    Column("date", "Refunded on", "refund.created_at"),
    _ORDER,
    _BILL_TO,
    Column("reason", "Reason", "reason"),
    Column("amount", "Amount", "amount_cents", number=True),
)
_RETURNS = (
    Column("id", "Return", "return_request.id"),
    Column("date", "Requested on", "return_request.created_at"),
    _ORDER,
    Column("item", "Item", "order_line.name"),
    Column("quantity", "Quantity", "return_request.quantity", number=True),
    Column("reason", "Reason", "reason"),
    Column("status", "Status", "return_request.status"),
)
_RETURN = (
    "return_request JOIN sales_order ON sales_order.id = return_request.order_id"
    " JOIN order_line ON order_line.id = order_line_id"
)


def invoices(page: Page) -> SiteResponse:
    """What was billed."""
    filters = _filters(page, "invoice.created_at")
    filters.amounts("Amount", "invoice.total_cents", "amount_from", "amount_to")
    found = grid(
        page,
        _INVOICES,
        filters,
        select="invoice.*, sales_order.number AS order_number, first_name, last_name",
        source="invoice LEFT JOIN sales_order ON sales_order.id = order_id",
        first="-number",
        key="invoice.id",
    )
    return page.render("invoices.html", grid=found, filters=filters)


def invoice(page: Page) -> SiteResponse:
    """One of them."""
    row = page.db.one("SELECT * FROM invoice WHERE number = ?", page.params["number"])
    if row is None:
        return page.not_found()
    order = page.db.one("SELECT * FROM sales_order WHERE id = ?", row["order_id"])
    return page.render("invoice.html", invoice=row, order=order, lines=orders.lines(page.db, row["order_id"]))


def shipments(page: Page) -> SiteResponse:
    """What was sent."""
    filters = _filters(page, "shipped_at")
    filters.choice("carrier", "Carrier", CARRIERS, "carrier")
    filters.contains("tracking", "Tracking number", "tracking")
    found = grid(
        page,
        _SHIPMENTS,
        filters,
        select="shipment.*, sales_order.number AS order_number, first_name, last_name",
        source="shipment LEFT JOIN sales_order ON sales_order.id = order_id",
        first="-number",
        key="shipment.id",
    )
    return page.render("shipments.html", grid=found, filters=filters, carriers=[(name, name) for name in CARRIERS])


def refunds(page: Page) -> SiteResponse:
    """What was paid back."""
    filters = _filters(page, "refund.created_at")
    filters.choice("reason", "Reason", REFUND_REASONS, "reason")
    filters.amounts("Amount", "amount_cents", "amount_from", "amount_to")
    found = grid(
        page,
        _REFUNDS,
        filters,
        select="refund.*, sales_order.number AS order_number, first_name, last_name",
        source="refund LEFT JOIN sales_order ON sales_order.id = order_id",
        first="-number",
        key="refund.id",
    )
    return page.render("refunds.html", grid=found, filters=filters, reasons=[(name, name) for name in REFUND_REASONS])


def returns(page: Page) -> SiteResponse:
    """What customers want to send back."""
    filters = Filters(page)
    filters.contains("number", "Order number", "sales_order.number")
    filters.contains("item", "Item", "order_line.name", "order_line.sku")
    filters.choice("status", "Status", RETURN_STATUSES, "return_request.status")
    filters.days("return_request.created_at")
    found = grid(
        page,
        _RETURNS,
        filters,
        select="return_request.*, sales_order.number AS order_number, order_line.name AS item",
        source=_RETURN,
        first="-id",
        key="return_request.id",
    )
    choices = [(code, words(code)) for code in RETURN_STATUSES]
    return page.render("returns.html", grid=found, filters=filters, statuses=choices)


def return_page(page: Page) -> SiteResponse:
    """One of them, with what can become of it."""
    row = _return(page)
    if row is None:
        return page.not_found()
    return page.render("return.html", row=row, steps=RETURN_STEPS.get(row["status"], ()))


def change_return(page: Page) -> SiteResponse:
    """Approve, reject or receive it."""
    row = _return(page)
    if row is None:
        return page.not_found()
    wanted = page.sent("status")
    if wanted not in RETURN_STEPS.get(row["status"], ()):
        page.flash("The status of this return does not allow that.", "error")
        return page.go(page.path)
    page.db.write("UPDATE return_request SET status = ? WHERE id = ?", wanted, row["id"])
    page.flash(f"Return # {row['id']} is now {wanted}.")
    return page.go(page.path)


def _filters(page: Page, time: str) -> Filters:
    filters = Filters(page)
    filters.contains("number", "Order number", "sales_order.number")
    filters.contains("customer", "Customer", "first_name || ' ' || last_name", "email")
    filters.days(time)
    return filters


def _return(page: Page) -> Row | None:
    return page.db.one(
        "SELECT return_request.*, sales_order.number AS order_number, sales_order.email, first_name, last_name,"
        f" order_line.name AS item, order_line.sku, order_line.options, order_line.price_cents FROM {_RETURN}"
        " WHERE return_request.id = ?",
        int(page.params["id"]),
    )
