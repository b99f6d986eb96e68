"""The shopping cart: a customer's in the database, a guest's in scratch. One set of functions for both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from envservers.webarena.sites.common.page import Page
from envservers.webarena.sites.shop import coupons
from envservers.webarena.sites.shop.prices import Price, Rules, price_of
from envservers.webarena.state.database import Db, Row
from envservers.webarena.world.totals import Totals, order_totals

MOST = 99
"""Of one line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One product or variant in the cart."""

    id: int
    product_id: int
    variant_id: int | None
    sku: str
    name: str
    path: str
    picture: str
    color: str
    options: str
    """`Color: Blue, Size: M`"""
    quantity: int
    price: Price
    left: int
    """In stock."""

    @property
    def total(self) -> int:
        """In cents."""
        return self.quantity * self.price.unit


@dataclass(frozen=True, slots=True, kw_only=True)
class Basket:
    """The cart as it stands now."""

    lines: list[Line]
    coupon_code: str
    gift_note: str

    @property
    def subtotal(self) -> int:
        """In cents, before discounts."""
        return sum(line.total for line in self.lines)

    @property
    def number(self) -> int:
        """How many things."""
        return sum(line.quantity for line in self.lines)


def read(page: Page) -> Basket:
    """The cart of who asks. What is no longer sold is left out."""
    owner = _owner(page)
    if owner is None:
        kept = page.db.scratch.get("guest_cart", {})
        wanted = [(one["id"], one["product"], one["variant"], one["quantity"]) for one in kept.get("lines", ())]
        coupon, note = kept.get("coupon", ""), kept.get("note", "")
    else:
        cart = page.db.one("SELECT * FROM cart WHERE customer_id = ?", owner)
        wanted = [tuple(row) for row in page.db.all(_LINES, cart["id"])] if cart else []
        coupon, note = (cart["coupon_code"], cart["gift_note"]) if cart else ("", "")
    return Basket(lines=_lines(page, wanted), coupon_code=coupon, gift_note=note)


def count(page: Page) -> int:
    """How many things are in the cart, for the head of every page."""
    owner = _owner(page)
    if owner is None:
        return sum(one["quantity"] for one in page.db.scratch.get("guest_cart", {}).get("lines", ()))
    return int(page.db.value(_COUNT, owner) or 0)


def totals(page: Page, basket: Basket, *, rate: Row | None = None) -> tuple[Totals, str]:
    """What it costs, shipping by a rate included; and why the coupon does not hold, empty when it does."""
    coupon = coupon_row(page, basket.coupon_code) if basket.coupon_code else None
    refused = coupons.refusal(coupon, basket.subtotal, page.today) if coupon else ""
    if basket.coupon_code and coupon is None:
        refused = coupons.UNKNOWN.format(code=basket.coupon_code)
    return order_totals(
        basket.subtotal,
        group_percent=page.customer["discount_percent"] if page.customer else 0,
        coupon=(coupon["kind"], coupon["amount"]) if coupon and not refused else None,
        rate=(rate["price_cents"], rate["free_over_cents"]) if rate else (0, None),
    ), refused


def coupon_row(page: Page, code: str) -> Row | None:
    """By its code, in any case of letters."""
    return page.db.one("SELECT * FROM coupon WHERE code = upper(?)", code)


def add(page: Page, product_id: int, variant_id: int | None, quantity: int) -> None:
    """Put things in; the same product and variant share a line."""
    owner = _owner(page)
    if owner is None:
        _add_for_guest(page, product_id, variant_id, quantity)
    else:
        _add_for_customer(page.db, owner, product_id, variant_id, quantity)


def set_quantity(page: Page, line_id: int, quantity: int) -> None:
    """Change a line; 0 takes it out."""
    owner = _owner(page)
    if owner is None:
        lines = _guest(page)["lines"]
        for line in list(lines):
            if line["id"] == line_id:
                line["quantity"] = quantity
                if not quantity:
                    lines.remove(line)
    elif quantity:
        page.db.write(f"UPDATE cart_line SET quantity = ? WHERE {_MINE}", quantity, line_id, owner)
    else:
        page.db.write(f"DELETE FROM cart_line WHERE {_MINE}", line_id, owner)


def set_coupon(page: Page, code: str) -> None:
    """Keep a code that was checked; empty forgets."""
    _set(page, "coupon", "coupon_code", code)


def set_note(page: Page, note: str) -> None:
    """The gift note; empty forgets."""
    _set(page, "note", "gift_note", note)


def clear(page: Page) -> None:
    """Empty the cart, coupon and note too."""
    owner = _owner(page)
    if owner is None:
        page.db.scratch.pop("guest_cart", None)
    else:
        page.db.write("DELETE FROM cart_line WHERE cart_id = (SELECT id FROM cart WHERE customer_id = ?)", owner)
        page.db.write("UPDATE cart SET coupon_code = '', gift_note = '' WHERE customer_id = ?", owner)


def hand_over(page: Page, customer_id: int) -> None:
    """What a guest put in goes to the customer who logs in."""
    kept = page.db.scratch.pop("guest_cart", {})
    for line in kept.get("lines", ()):
        _add_for_customer(page.db, customer_id, line["product"], line["variant"], line["quantity"])


_LINES = "SELECT id, product_id, variant_id, quantity FROM cart_line WHERE cart_id = ? ORDER BY id"
_COUNT = "SELECT sum(quantity) FROM cart_line JOIN cart ON cart.id = cart_id WHERE customer_id = ?"
_MINE = "id = ? AND cart_id = (SELECT id FROM cart WHERE customer_id = ?)"


def _lines(page: Page, wanted: list[Any]) -> list[Line]:
    rules = Rules(page.db, page.today) if wanted else None
    lines = []
    for line_id, product_id, variant_id, quantity in wanted:
        row = page.db.one("SELECT * FROM product WHERE id = ? AND status = 'enabled'", product_id)
        variant = page.db.one("SELECT * FROM variant WHERE id = ?", variant_id) if variant_id else None
        if row is None or rules is None or (variant_id and variant is None):
            continue
        lines.append(
            Line(
                id=line_id,
                product_id=product_id,
                variant_id=variant_id,
                sku=variant["sku"] if variant else row["sku"],
                name=row["name"],
                path=f"/p/{row['slug']}",
                picture=row["picture"],
                color=variant["color"] if variant else "",
                options=options_text(variant),
                quantity=quantity,
                price=price_of(row["price_cents"], row["special_cents"], rules.percent(row["category_id"])),
                left=variant["stock"] if variant else row["stock"],
            )
        )
    return lines


def options_text(variant: Row | None) -> str:
    """`Color: Blue, Size: M`, empty without a choice."""
    if variant is None:
        return ""
    chosen = (("Color", variant["color"]), ("Size", variant["size"]))
    return ", ".join(f"{name}: {value}" for name, value in chosen if value)


def _owner(page: Page) -> int | None:
    return page.customer["id"] if page.customer else None


def _guest(page: Page) -> dict[str, Any]:
    cart: dict[str, Any] = page.db.scratch.setdefault("guest_cart", {"lines": [], "coupon": "", "note": "", "made": 0})
    return cart


def _add_for_guest(page: Page, product_id: int, variant_id: int | None, quantity: int) -> None:
    cart = _guest(page)
    for line in cart["lines"]:
        if (line["product"], line["variant"]) == (product_id, variant_id):
            line["quantity"] = min(MOST, line["quantity"] + quantity)
            return
    cart["made"] += 1
    cart["lines"].append(
        {"id": cart["made"], "product": product_id, "variant": variant_id, "quantity": quantity},
    )


def _add_for_customer(db: Db, owner: int, product_id: int, variant_id: int | None, quantity: int) -> None:
    cart_id = _cart_id(db, owner)
    line = db.one(
        "SELECT * FROM cart_line WHERE cart_id = ? AND product_id = ? AND variant_id IS ?",
        *(cart_id, product_id, variant_id),
    )
    if line:
        db.write("UPDATE cart_line SET quantity = ? WHERE id = ?", min(MOST, line["quantity"] + quantity), line["id"])
    else:
        db.write(
            "INSERT INTO cart_line (cart_id, product_id, variant_id, quantity) VALUES (?, ?, ?, ?)",
            *(cart_id, product_id, variant_id, quantity),
        )


def _cart_id(db: Db, owner: int) -> int:
    found: int | None = db.value("SELECT id FROM cart WHERE customer_id = ?", owner)
    return found or db.write("INSERT INTO cart (customer_id) VALUES (?)", owner)


def _set(page: Page, key: str, column: str, value: str) -> None:
    owner = _owner(page)
    if owner is None:
        _guest(page)[key] = value
    else:
        page.db.write(f"UPDATE cart SET {column} = ? WHERE id = ?", value, _cart_id(page.db, owner))
