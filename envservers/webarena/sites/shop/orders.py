"""Placing orders, and questions about those that were placed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from envservers.webarena.site import Now
from envservers.webarena.sites.shop.baskets import Line
from envservers.webarena.state.database import Db, Row
from envservers.webarena.world.totals import Totals

ADDRESS = ("first_name", "last_name", "street", "town", "region", "postcode", "phone")
RETURNABLE = ("shipped", "complete")
"""Statuses of orders whose goods a customer can send back."""
STATUSES = ("pending", "processing", "shipped", "complete", "on_hold", "canceled", "closed")


@dataclass(frozen=True, slots=True, kw_only=True)
class NewOrder:
    """What the checkout collected."""

    customer_id: int | None
    email: str
    lines: list[Line]
    totals: Totals
    coupon_code: str
    """Empty unless it holds."""
    gift_note: str
    shipping_method: str
    payment_method: str
    address: Mapping[str, str]
    """By the names in `ADDRESS`."""


def place(db: Db, now: Now, order: NewOrder) -> str:
    """Write an order with its lines, take the goods out of stock, count the coupon; the order's number.

    The caller has checked that there is enough of everything.
    """
    last = int(db.value("SELECT max(number) FROM sales_order") or 0)
    number = f"{last + 1:09d}"
    order_id = db.write(
        "INSERT INTO sales_order (number, customer_id, email, placed_at, status, subtotal_cents, discount_cents,"
        " shipping_cents, total_cents, coupon_code, gift_note, shipping_method, payment_method,"
        f" {', '.join(ADDRESS)}) VALUES (?, ?, ?, ?, 'pending', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        *(number, order.customer_id, order.email, now.time),
        *(order.totals.subtotal, order.totals.discount, order.totals.shipping, order.totals.total),
        *(order.coupon_code, order.gift_note, order.shipping_method, order.payment_method),
        *(order.address[name] for name in ADDRESS),
    )
    for line in order.lines:
        db.write(
            "INSERT INTO order_line (order_id, product_id, variant_id, sku, name, options, quantity, price_cents)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            *(order_id, line.product_id, line.variant_id, line.sku, line.name, line.options),
            *(line.quantity, line.price.unit),
        )
        db.write("UPDATE product SET stock = stock - ? WHERE id = ?", line.quantity, line.product_id)
        if line.variant_id:
            db.write("UPDATE variant SET stock = stock - ? WHERE id = ?", line.quantity, line.variant_id)
    if order.coupon_code:
        db.write("UPDATE coupon SET uses = uses + 1 WHERE code = ?", order.coupon_code)
    return number


def of_customer(db: Db, customer_id: int, number: str) -> Row | None:
    """One of the customer's own orders."""
    return db.one("SELECT * FROM sales_order WHERE customer_id = ? AND number = ?", customer_id, number)


def of_guest(db: Db, number: str, email: str) -> Row | None:
    """An order that is found by its number and the e-mail address it was placed with."""
    return db.one("SELECT * FROM sales_order WHERE number = ? AND lower(email) = lower(?)", number, email)


def count(db: Db, customer_id: int, status: str) -> int:
    """How many orders; of one status, or with an empty one of any."""
    sql = "SELECT count(*) FROM sales_order WHERE customer_id = ? AND (? = '' OR status = ?)"
    return int(db.value(sql, customer_id, status, status))


def history(db: Db, customer_id: int, status: str, *, limit: int, skip: int = 0) -> list[Row]:
    """The customer's orders, latest first, with the number of things in each."""
    return db.all(
        "SELECT sales_order.*, (SELECT sum(quantity) FROM order_line WHERE order_id = sales_order.id) AS things"
        " FROM sales_order WHERE customer_id = ? AND (? = '' OR status = ?)"
        " ORDER BY placed_at DESC, id DESC LIMIT ? OFFSET ?",
        *(customer_id, status, status, limit, skip),
    )


def lines(db: Db, order_id: int) -> list[Row]:
    """What was ordered, with the product's page where it is still sold."""
    return db.all(
        "SELECT order_line.*, CASE WHEN product.status = 'enabled' THEN '/p/' || slug ELSE '' END AS path"
        " FROM order_line JOIN product ON product.id = product_id WHERE order_id = ? ORDER BY order_line.id",
        order_id,
    )


def returned(db: Db, order_id: int) -> dict[int, int]:
    """How much of each line was asked to be returned, refusals left out."""
    rows = db.all(
        "SELECT order_line_id, sum(quantity) FROM return_request WHERE order_id = ? AND status <> 'rejected'"
        " GROUP BY order_line_id",
        order_id,
    )
    return {row[0]: row[1] for row in rows}
