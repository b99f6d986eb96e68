"""The shopping cart."""

from __future__ import annotations

from envservers.webarena.site import SiteResponse
from envservers.webarena.sites.common.forms import Form
from envservers.webarena.sites.common.page import Page
from envservers.webarena.sites.shop import baskets, catalogue, coupons
from envservers.webarena.state.database import Row

NOTE_LIMIT = 300


def show(page: Page) -> SiteResponse:
    """What is in it, and what it costs so far."""
    basket = baskets.read(page)
    totals, refused = baskets.totals(page, basket)
    return page.render(
        "cart.html",
        basket=basket,
        totals=totals,
        refused=refused,
        draft=page.draft(),
        coupon=baskets.coupon_row(page, basket.coupon_code) if basket.coupon_code else None,
    )


def add(page: Page) -> SiteResponse:
    """Put a product in, from its page or from a list."""
    row = catalogue.product_by_id(page.db, int(page.params["id"]))
    if row is None:
        return page.not_found()
    path = f"/p/{row['slug']}"
    form = Form(page.request.form)
    quantity = form.number("quantity", "Quantity", low=1, high=baskets.MOST, otherwise=1)
    variant = _chosen(form, catalogue.variants(page.db, row["id"]))
    left = variant["stock"] if variant else row["stock"]
    if not form.errors and left <= 0:
        form.errors["quantity"] = "This product is out of stock."
    elif not form.errors and quantity + _in_cart(page, row["id"], variant) > left:
        form.errors["quantity"] = f"Only {left} of this product are left in stock."
    if form.errors:
        page.flash(next(iter(form.errors.values())), "error")
        return page.refuse(form, path, "buy")
    baskets.add(page, row["id"], variant["id"] if variant else None, quantity)
    page.flash(f"You added {row['name']} to your shopping cart.", link="/cart", label="View cart")
    return page.back(path)


def change(page: Page) -> SiteResponse:
    """A new quantity of a line, or its end."""
    line = next((line for line in baskets.read(page).lines if line.id == page.params["id"]), None)
    if line is None:
        return page.go("/cart")
    if page.sent("do") == "remove":
        baskets.set_quantity(page, line.id, 0)
        page.flash(f"{line.name} was removed from your cart.")
        return page.go("/cart")
    form = Form(page.request.form)
    quantity = form.number("quantity", "Quantity", low=0, high=baskets.MOST)
    if not form.errors and quantity > line.left:
        form.errors["quantity"] = f"Only {line.left} of {line.name} are left in stock."
    if form.errors:
        page.flash(form.errors["quantity"], "error")
        return page.go("/cart")
    baskets.set_quantity(page, line.id, quantity)
    page.flash("Your cart was updated.")
    return page.go("/cart")


def set_coupon(page: Page) -> SiteResponse:
    """Use a coupon."""
    form = Form(page.request.form)
    code = form.text("coupon", "Coupon code", limit=40)
    if not form.errors:
        row = baskets.coupon_row(page, code)
        basket = baskets.read(page)
        refused = (
            coupons.refusal(row, basket.subtotal, page.today) if row else coupons.UNKNOWN.format(code=code.upper())
        )
        if refused:
            form.errors["coupon"] = refused
    if form.errors or row is None:
        return page.refuse(form, "/cart")
    baskets.set_coupon(page, row["code"])
    page.flash(f"You used the coupon code “{row['code']}”.")
    return page.go("/cart")


def drop_coupon(page: Page) -> SiteResponse:
    """Use none."""
    baskets.set_coupon(page, "")
    page.flash("The coupon code was removed.")
    return page.go("/cart")


def set_note(page: Page) -> SiteResponse:
    """Words that are printed on a card; none removes it."""
    form = Form(page.request.form)
    note = form.text("note", "Gift note", limit=NOTE_LIMIT, needed=False, lines=True)
    if form.errors:
        return page.refuse(form, "/cart")
    baskets.set_note(page, note)
    page.flash("Your gift note was saved." if note else "The gift note was removed.")
    return page.go("/cart")


def _chosen(form: Form, found: list[Row]) -> Row | None:
    """The variant of the chosen color and size."""
    if not found:
        return None
    chosen = {}
    for name in ("color", "size"):
        options = {row[name] for row in found if row[name]}
        chosen[name] = form.choice(name, name.capitalize(), options) if options else ""
    if form.errors:
        return None
    match = next((row for row in found if row["color"] == chosen["color"] and row["size"] == chosen["size"]), None)
    if match is None or match["stock"] <= 0:
        name = " / ".join(value for value in chosen.values() if value)
        form.errors["size" if chosen["size"] else "color"] = f"{name} is sold out. Please choose another option."
    return match


def _in_cart(page: Page, product_id: int, variant: Row | None) -> int:
    wanted = (product_id, variant["id"] if variant else None)
    return sum(line.quantity for line in baskets.read(page).lines if (line.product_id, line.variant_id) == wanted)
