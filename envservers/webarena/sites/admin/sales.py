"""What was sold: questions over orders. Canceled orders are left out everywhere."""

from __future__ import annotations

from envservers.webarena.state.database import Db, Row

PERIODS = {"day": 10, "month": 7, "year": 4}
"""How much of a time names the period."""


def best_sellers(db: Db, first: str, last: str, *, limit: int) -> list[Row]:
    """Products by how many were ordered from one day to another; between equals, by what they brought."""
    return db.all(
        "SELECT product.id, product.name, product.sku, product.price_cents, product.stock, sold, revenue FROM"
        # CROSS JOIN keeps the order: few orders first, then their lines.
        " (SELECT product_id, sum(quantity) AS sold, sum(quantity * price_cents) AS revenue"
        "  FROM sales_order CROSS JOIN order_line ON order_id = sales_order.id"
        "  WHERE placed_at >= ? AND placed_at <= ? AND status <> 'canceled'"
        "  GROUP BY product_id ORDER BY sold DESC, revenue DESC, product_id LIMIT ?)"
        " CROSS JOIN product ON product.id = product_id ORDER BY sold DESC, revenue DESC, product.id",
        *(first, _end(last), limit),
    )


def by_period(db: Db, first: str, last: str, period: str) -> list[Row]:
    """Orders, items and amounts of each period with an order, the earliest first."""
    return db.all(
        f"SELECT substr(placed_at, 1, {PERIODS[period]}) AS period, count(*) AS orders,"
        " sum((SELECT sum(quantity) FROM order_line WHERE order_id = sales_order.id)) AS items,"
        " sum(subtotal_cents) AS subtotal, sum(discount_cents) AS discount, sum(shipping_cents) AS shipping,"
        " sum(total_cents) AS total, sum(refunded_cents) AS refunded"
        " FROM sales_order WHERE placed_at >= ? AND placed_at <= ? AND status <> 'canceled'"
        " GROUP BY period ORDER BY period",
        *(first, _end(last)),
    )


def refunds_by_reason(db: Db, first: str, last: str) -> list[Row]:
    """How many and how much for each reason, the most costly first."""
    return db.all(
        "SELECT reason, count(*) AS number, sum(amount_cents) AS amount FROM refund"
        " WHERE created_at >= ? AND created_at <= ? GROUP BY reason ORDER BY amount DESC, reason",
        *(first, _end(last)),
    )


def coupon_usage(db: Db, first: str, last: str) -> list[Row]:
    """How often each code was used in orders, what it took off, and what those orders brought."""
    return db.all(
        "SELECT coupon_code AS code, count(*) AS uses, sum(discount_cents) AS discount, sum(total_cents) AS total"
        " FROM sales_order WHERE placed_at >= ? AND placed_at <= ? AND coupon_code <> '' AND status <> 'canceled'"
        " GROUP BY coupon_code ORDER BY uses DESC, coupon_code",
        *(first, _end(last)),
    )


def best_customers(db: Db, first: str, last: str, *, limit: int) -> list[Row]:
    """Customers by what they ordered for; guests are left out."""
    return db.all(
        "SELECT customer.id, first_name, last_name, email, orders, total FROM"
        " (SELECT customer_id, count(*) AS orders, sum(total_cents) AS total FROM sales_order"
        "  WHERE placed_at >= ? AND placed_at <= ? AND status <> 'canceled' AND customer_id IS NOT NULL"
        "  GROUP BY customer_id ORDER BY total DESC, customer_id LIMIT ?)"
        " CROSS JOIN customer ON customer.id = customer_id ORDER BY total DESC, customer.id",
        *(first, _end(last), limit),
    )


def _end(day: str) -> str:
    return f"{day} 23:59:59"
