"""The checkout: address, shipping, payment, review. What was chosen waits in scratch until the order is placed."""

from __future__ import annotations

from typing import Any

from envservers.webarena.site import SiteResponse
from envservers.webarena.sites.common.forms import Form
from envservers.webarena.sites.common.page import Page
from envservers.webarena.sites.shop import baskets, orders
from envservers.webarena.sites.shop.baskets import Basket
from envservers.webarena.sites.shop.orders import ADDRESS, NewOrder
from envservers.webarena.sites.shop.pages.address_form import address_values, read_address, regions
from envservers.webarena.state.database import Row
from envservers.webarena.world.totals import shipping_price
from envservers.webarena.world.vocabulary import PAYMENTS

NEW = "new"
"""The choice of an address that is not in the address book."""
_STEPS = ("address", "shipping", "payment")
_PAYMENT_TEXTS = {
    "Credit card": "Credit card, charged when the order is sent",
    "Pay on invoice": "Pay on invoice, within 14 days",
    "Bank transfer": "Bank transfer, in advance",
}


def start(page: Page) -> SiteResponse:
    """The first step; an empty cart has none."""
    return page.go("/checkout/address") if baskets.read(page).lines else page.go("/cart")


def address(page: Page) -> SiteResponse:
    """Where it goes."""
    early = _too_early(page, "address")
    if early:
        return early
    book = _book(page)
    chosen = _choices(page).get("address", {})
    values = dict(_shown(page))
    return page.render(
        "checkout_address.html",
        draft=page.draft(),
        book=[(str(row["id"]), _one_line(row)) for row in book],
        start=address_values(chosen),
        picked=_choices(page).get("address_id", str(book[0]["id"]) if book else NEW),
        email=_choices(page).get("email", ""),
        regions=regions(page.db),
        **values,
    )


def set_address(page: Page) -> SiteResponse:
    """Keep it, from the address book or as typed."""
    early = _too_early(page, "address")
    if early:
        return early
    form = Form(page.request.form)
    book = {str(row["id"]): row for row in _book(page)}
    picked = form.choice("address", "Address", (*book, NEW)) if book else NEW
    email = page.customer["email"] if page.customer else form.email()
    typed = read_address(form, page.db) if picked == NEW else {}
    if form.errors:
        return page.refuse(form, "/checkout/address")
    chosen = {name: book[picked][name] for name in ADDRESS} if picked in book else typed
    _choices(page).update(address=chosen, address_id=picked, email=email)
    if picked == NEW and page.customer and form.ticked("save"):
        page.db.write(
            f"INSERT INTO address (customer_id, {', '.join(ADDRESS)}, is_default) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            *(page.customer["id"], *(chosen[name] for name in ADDRESS), int(not book)),
        )
    return page.go("/checkout/shipping")


def shipping(page: Page) -> SiteResponse:
    """How it goes."""
    early = _too_early(page, "shipping")
    if early:
        return early
    basket = baskets.read(page)
    totals, _ = baskets.totals(page, basket)
    goods = totals.subtotal - totals.discount
    choices = [(row, shipping_price(row["price_cents"], row["free_over_cents"], goods)) for row in _rates(page)]
    return page.render(
        "checkout_shipping.html",
        draft=page.draft(),
        choices=choices,
        picked=_choices(page).get("shipping", ""),
        **_shown(page),
    )


def set_shipping(page: Page) -> SiteResponse:
    """Keep the rate."""
    early = _too_early(page, "shipping")
    if early:
        return early
    form = Form(page.request.form)
    code = form.choice("shipping", "Shipping method", [row["code"] for row in _rates(page)])
    if form.errors:
        return page.refuse(form, "/checkout/shipping")
    _choices(page)["shipping"] = code
    return page.go("/checkout/payment")


def payment(page: Page) -> SiteResponse:
    """How it is paid. No card numbers are asked: nothing is charged here."""
    early = _too_early(page, "payment")
    if early:
        return early
    choices = [(name, _PAYMENT_TEXTS.get(name, name)) for name in PAYMENTS]
    picked = _choices(page).get("payment", "")
    return page.render("checkout_payment.html", draft=page.draft(), choices=choices, picked=picked, **_shown(page))


def set_payment(page: Page) -> SiteResponse:
    """Keep it."""
    early = _too_early(page, "payment")
    if early:
        return early
    form = Form(page.request.form)
    method = form.choice("payment", "Payment method", PAYMENTS)
    if form.errors:
        return page.refuse(form, "/checkout/payment")
    _choices(page)["payment"] = method
    return page.go("/checkout/review")


def review(page: Page) -> SiteResponse:
    """Everything once more."""
    early = _too_early(page, "review")
    return early or page.render("checkout_review.html", choices=_choices(page), **_shown(page))


def place(page: Page) -> SiteResponse:
    """Place the order."""
    early = _too_early(page, "review")
    if early:
        return early
    basket = baskets.read(page)
    short = _short(basket)
    if short:
        page.flash(short, "error")
        return page.go("/cart")
    rate = _rate(page)
    totals, refused = baskets.totals(page, basket, rate=rate)
    choices = _choices(page)
    number = orders.place(
        page.db,
        page.now,
        NewOrder(
            customer_id=page.customer["id"] if page.customer else None,
            email=choices["email"],
            lines=basket.lines,
            totals=totals,
            coupon_code="" if refused else basket.coupon_code,
            gift_note=basket.gift_note,
            shipping_method=rate["name"] if rate else "",
            payment_method=choices["payment"],
            address=choices["address"],
        ),
    )
    baskets.clear(page)
    page.db.scratch.pop("checkout", None)
    page.db.scratch["placed"] = {"number": number, "email": choices["email"]}
    return page.go("/checkout/success")


def success(page: Page) -> SiteResponse:
    """Thank you; shown as long as no other order was placed."""
    placed = page.db.scratch.get("placed")
    return page.render("checkout_success.html", placed=placed) if placed else page.go("/cart")


def _choices(page: Page) -> dict[str, Any]:
    """What was chosen so far, apart for every customer and for guests."""
    who = str(page.customer["id"]) if page.customer else "guest"
    kept: dict[str, Any] = page.db.scratch.setdefault("checkout", {}).setdefault(who, {})
    return kept


def _too_early(page: Page, step: str) -> SiteResponse | None:
    """The cart when it is empty or holds too much; the first step that was left out."""
    basket = baskets.read(page)
    short = _short(basket)
    if short:
        page.flash(short, "error")
    if short or not basket.lines:
        return page.go("/cart")
    choices = _choices(page)
    for earlier in _STEPS:
        if earlier == step:
            return None
        if earlier not in choices or (earlier == "shipping" and _rate(page) is None):
            return page.go(f"/checkout/{earlier}")
    return None


def _short(basket: Basket) -> str:
    for line in basket.lines:
        if line.quantity > line.left:
            left = (
                f"Only {line.left} of {line.name} are left in stock." if line.left > 0 else f"{line.name} is sold out."
            )
            return f"{left} Please change your cart."
    return ""


def _shown(page: Page) -> dict[str, Any]:
    """What every step shows beside its form."""
    basket = baskets.read(page)
    rate = _rate(page)
    totals, refused = baskets.totals(page, basket, rate=rate)
    return {"basket": basket, "totals": totals, "rate": rate, "refused": refused}


def _book(page: Page) -> list[Row]:
    if page.customer is None:
        return []
    return page.db.all("SELECT * FROM address WHERE customer_id = ? ORDER BY is_default DESC, id", page.customer["id"])


def _one_line(row: Row) -> str:
    return f"{row['first_name']} {row['last_name']}, {row['street']}, {row['postcode']} {row['town']}, {row['region']}"


def _rates(page: Page) -> list[Row]:
    return page.db.all("SELECT * FROM shipping_rate WHERE active ORDER BY id")


def _rate(page: Page) -> Row | None:
    code = _choices(page).get("shipping", "")
    return page.db.one("SELECT * FROM shipping_rate WHERE code = ? AND active", code) if code else None
