"""Doing what the rules allow: the rows that a change of an order writes."""

from __future__ import annotations

from envservers.webarena.site import Now
from envservers.webarena.sites.admin.order_rules import Deed, OrderState, allowed, status_after
from envservers.webarena.state.database import Db, Row


def state_of(db: Db, order: Row) -> OrderState:
    """What the rules look at, of an order's row."""
    invoiced = db.value("SELECT coalesce(sum(total_cents), 0) FROM invoice WHERE order_id = ?", order["id"])
    return OrderState(
        status=order["status"], invoiced=invoiced > 0, left_cents=max(0, invoiced - order["refunded_cents"])
    )


def possible(db: Db, order: Row) -> tuple[Deed, ...]:
    """What can be done with it."""
    return allowed(state_of(db, order))


def set_status(db: Db, order: Row, deed: Deed) -> None:
    """Hold, unhold, complete or cancel; the goods of a canceled order go back into stock."""
    db.write("UPDATE sales_order SET status = ? WHERE id = ?", status_after(state_of(db, order), deed), order["id"])
    if deed != "cancel":
        return
    for line in db.all("SELECT * FROM order_line WHERE order_id = ? ORDER BY id", order["id"]):
        db.write("UPDATE product SET stock = stock + ? WHERE id = ?", line["quantity"], line["product_id"])
        if line["variant_id"]:
            db.write("UPDATE variant SET stock = stock + ? WHERE id = ?", line["quantity"], line["variant_id"])


def invoice(db: Db, now: Now, order: Row) -> str:
    """Invoice all of it; the invoice's number."""
    after = status_after(state_of(db, order), "invoice")
    number = _next(db, "invoice")
    db.write(
        "INSERT INTO invoice (order_id, number, created_at, total_cents) VALUES (?, ?, ?, ?)",
        *(order["id"], number, now.time, order["total_cents"]),
    )
    db.write("UPDATE sales_order SET status = ? WHERE id = ?", after, order["id"])
    return number


def ship(db: Db, now: Now, order: Row, carrier: str, tracking: str) -> str:
    """Send all of it in one parcel; the shipment's number."""
    after = status_after(state_of(db, order), "ship")
    number = _next(db, "shipment")
    db.write(
        "INSERT INTO shipment (order_id, number, carrier, tracking, shipped_at) VALUES (?, ?, ?, ?, ?)",
        *(order["id"], number, carrier, tracking, now.time),
    )
    db.write("UPDATE sales_order SET status = ? WHERE id = ?", after, order["id"])
    return number


def refund(db: Db, now: Now, order: Row, cents: int, reason: str) -> str:
    """Pay back a part or the rest; the refund's number."""
    after = status_after(state_of(db, order), "refund", cents)
    number = _next(db, "refund")
    db.write(
        "INSERT INTO refund (order_id, number, created_at, amount_cents, reason) VALUES (?, ?, ?, ?, ?)",
        *(order["id"], number, now.time, cents, reason),
    )
    db.write(
        "UPDATE sales_order SET refunded_cents = refunded_cents + ?, status = ? WHERE id = ?",
        *(cents, after, order["id"]),
    )
    return number


def _next(db: Db, table: str) -> str:
    """The number of a new document."""
    return f"{int(db.value(f'SELECT max(number) FROM {table}') or 0) + 1:09d}"
