"""Ways of delivery and what they cost."""

from __future__ import annotations

import re

from envservers.webarena.site import SiteResponse
from envservers.webarena.sites.common.forms import Form
from envservers.webarena.sites.common.page import Page
from envservers.webarena.state.database import Row, Value


def show(page: Page) -> SiteResponse:
    """All of them."""
    return page.render("shipping.html", rows=page.db.all("SELECT * FROM shipping_rate ORDER BY id"))


def new(page: Page) -> SiteResponse:
    """An empty form."""
    return page.render("shipping_rate.html", row=None, draft=page.draft())


def create(page: Page) -> SiteResponse:
    """One more; its code follows from its name."""
    form = Form(page.request.form)
    typed = _read(page, form, 0)
    if form.errors:
        return page.refuse(form, page.path)
    base = re.sub(r"[^a-z0-9]+", "_", str(typed["name"]).lower()).strip("_") or "rate"
    code, number = base, 2
    while page.db.one("SELECT 1 FROM shipping_rate WHERE code = ?", code):
        code, number = f"{base}_{number}", number + 1
    page.db.write(
        f"INSERT INTO shipping_rate (code, {', '.join(typed)}) VALUES (?, {', '.join('?' * len(typed))})",
        *(code, *typed.values()),
    )
    page.flash("You saved the shipping rate.")
    return page.go("/shipping")


def edit(page: Page) -> SiteResponse:
    """The form of one rate."""
    row = _rate(page)
    return page.render("shipping_rate.html", row=row, draft=page.draft()) if row else page.not_found()


def save(page: Page) -> SiteResponse:
    """Change it."""
    row = _rate(page)
    if row is None:
        return page.not_found()
    form = Form(page.request.form)
    typed = _read(page, form, row["id"])
    if form.errors:
        return page.refuse(form, page.path)
    page.db.write(
        f"UPDATE shipping_rate SET {', '.join(f'{name} = ?' for name in typed)} WHERE id = ?",
        *(*typed.values(), row["id"]),
    )
    page.flash("You saved the shipping rate.")
    return page.go("/shipping")


def _rate(page: Page) -> Row | None:
    return page.db.one("SELECT * FROM shipping_rate WHERE id = ?", int(page.params["id"]))


def _read(page: Page, form: Form, but: int) -> dict[str, Value]:
    values: dict[str, Value] = {
        "name": form.text("name", "Name", limit=60),
        "price_cents": form.cents("price", "Price"),
        "free_over_cents": form.cents("free_over", "Free from", needed=False),
        "days": form.text("days", "Delivery time", limit=60),
        "active": int(form.ticked("active")),
    }
    if "name" not in form.errors and page.db.one(
        "SELECT 1 FROM shipping_rate WHERE lower(name) = lower(?) AND id <> ?", values["name"], but
    ):
        form.errors["name"] = "Name: there is already a shipping rate with this name."
    return values
