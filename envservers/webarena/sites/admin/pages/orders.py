"""The list of orders: filters, sorting, export, and one status for many."""

from __future__ import annotations

from typing import Any

from envservers.webarena.site import SiteResponse
from envservers.webarena.sites.admin import order_deeds
from envservers.webarena.sites.admin.grid import Column, Filters, everything, grid, picked
from envservers.webarena.sites.admin.order_rules import Deed
from envservers.webarena.sites.common.formats import count, words
from envservers.webarena.sites.common.page import Page
from envservers.webarena.sites.shop.orders import STATUSES

COLUMNS = (
    Column("number", "Order", "sales_order.number"),
    Column("placed", "Purchase date", "placed_at"),
    Column("customer", "Customer", "first_name || ' ' || last_name"),
    Column("town", "Ship to", "town"),
    Column("total", "Grand total", "total_cents", number=True),
    Column("status", "Status", "sales_order.status"),
)
EXPORTED = 20
"""How many lines the export's preview shows."""
BULK: dict[str, tuple[Deed, str]] = {
    "hold": ("hold", "put on hold"),
    "unhold": ("unhold", "released from hold"),
    "complete": ("complete", "marked as complete"),
    "cancel": ("cancel", "canceled"),
}
_LIST: dict[str, Any] = {
    "select": "sales_order.*",
    "source": "sales_order",
    "first": "-placed",
    "key": "sales_order.id",
}


def show(page: Page) -> SiteResponse:
    """A page of them."""
    filters = _filters(page)
    return page.render("orders.html", grid=grid(page, COLUMNS, filters, **_LIST), filters=filters, statuses=statuses())


def export(page: Page) -> SiteResponse:
    """What the exported file begins with."""
    filters = _filters(page)
    rows = everything(page, COLUMNS, filters, **_LIST, limit=EXPORTED)
    total = page.db.value(f"SELECT count(*) FROM sales_order{filters.where}", *filters.values)
    return page.render("orders_export.html", rows=rows, total=total, back=page.here().replace("/export", "", 1))


def change_many(page: Page) -> SiteResponse:
    """Do one thing to all that were picked; those that do not allow it stay as they are."""
    chosen = picked(page)
    deed, done = BULK.get(page.sent("do"), (None, ""))
    back = page.came_from("/orders")
    if not chosen or deed is None:
        page.flash("Please choose an action." if chosen else "Please select at least one order.", "error")
        return page.go(back)
    changed = 0
    for number in chosen:
        row = page.db.one("SELECT * FROM sales_order WHERE id = ?", number)
        if row is not None and deed in order_deeds.possible(page.db, row):
            order_deeds.set_status(page.db, row, deed)
            changed += 1
    left = len(chosen) - changed
    if changed:
        page.flash(f"{count(changed, 'order was', 'orders were')} {done}.")
    if left:
        page.flash(
            f"{count(left, 'order was', 'orders were')} not changed, because the status does not allow it.", "error"
        )
    return page.go(back)


def statuses() -> list[tuple[str, str]]:
    """Choices of the field `status`."""
    return [(code, words(code)) for code in STATUSES]


def _filters(page: Page) -> Filters:
    filters = Filters(page)
    filters.contains("number", "Order number", "sales_order.number")
    filters.contains("customer", "Customer", "first_name || ' ' || last_name", "email")
    filters.choice("status", "Status", STATUSES, "sales_order.status")
    filters.days("placed_at")
    filters.amounts("Grand total", "total_cents", "total_from", "total_to")
    return filters
