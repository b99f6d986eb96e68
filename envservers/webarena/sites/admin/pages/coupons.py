"""Coupons that customers type in at the cart."""

from __future__ import annotations

import re

from envservers.webarena.site import SiteResponse
from envservers.webarena.sites.admin.grid import Column, Filters, grid
from envservers.webarena.sites.common.formats import plain_money
from envservers.webarena.sites.common.forms import Form
from envservers.webarena.sites.common.page import Page
from envservers.webarena.state.database import Row, Value

KINDS = (("percent", "Percent off"), ("fixed", "Fixed amount off"), ("free_shipping", "Free shipping"))
COLUMNS = (
    Column("code", "Code", "code"),
    Column("description", "Description"),
    Column("kind", "Type", "kind"),
    Column("starts", "Valid from", "starts_on"),
    Column("ends", "Valid to", "ends_on"),
    Column("uses", "Uses", "uses", number=True),
    Column("limit", "Use limit", "use_limit", number=True),
    Column("active", "Active", "active"),
)
EMPTY = {
    "code": "",
    "description": "",
    "kind": "percent",
    "amount": "",
    "least": "0.00",
    "starts": "",
    "ends": "",
    "limit": "",
    "active": True,
}
_CODE = re.compile(r"[A-Z0-9-]{3,24}")


def show(page: Page) -> SiteResponse:
    """A page of them."""
    filters = Filters(page)
    filters.contains("code", "Code", "code")
    filters.choice("kind", "Type", dict(KINDS), "kind")
    filters.choice("active", "Active", ("1", "0"), "CAST(active AS TEXT)")
    filters.holds_on("valid", "starts_on", "ends_on")
    found = grid(page, COLUMNS, filters, select="*", source="coupon", first="code", key="coupon.id")
    return page.render("coupons.html", grid=found, filters=filters, kinds=list(KINDS), kind_texts=dict(KINDS))


def new(page: Page) -> SiteResponse:
    """An empty form."""
    return page.render("coupon.html", row=None, start=EMPTY | {"starts": page.today}, draft=page.draft(), kinds=KINDS)


def create(page: Page) -> SiteResponse:
    """One more."""
    form = Form(page.request.form)
    typed = _read(page, form, 0)
    if form.errors:
        return page.refuse(form, page.path)
    page.db.write(
        f"INSERT INTO coupon ({', '.join(typed)}, uses) VALUES ({', '.join('?' * len(typed))}, 0)", *typed.values()
    )
    page.flash("You saved the coupon.")
    return page.go("/coupons")


def edit(page: Page) -> SiteResponse:
    """The form of one coupon."""
    row = _coupon(page)
    if row is None:
        return page.not_found()
    start = {
        "code": row["code"],
        "description": row["description"],
        "kind": row["kind"],
        "amount": plain_money(row["amount"]) if row["kind"] == "fixed" else row["amount"] or "",
        "least": plain_money(row["min_cents"]),
        "starts": row["starts_on"],
        "ends": row["ends_on"],
        "limit": "" if row["use_limit"] is None else row["use_limit"],
        "active": row["active"],
    }
    return page.render("coupon.html", row=row, start=start, draft=page.draft(), kinds=KINDS)


def save(page: Page) -> SiteResponse:
    """Change it."""
    row = _coupon(page)
    if row is None:
        return page.not_found()
    form = Form(page.request.form)
    typed = _read(page, form, row["id"])
    if form.errors:
        return page.refuse(form, page.path)
    page.db.write(
        f"UPDATE coupon SET {', '.join(f'{name} = ?' for name in typed)} WHERE id = ?", *typed.values(), row["id"]
    )
    page.flash("You saved the coupon.")
    return page.go("/coupons")


def _coupon(page: Page) -> Row | None:
    return page.db.one("SELECT * FROM coupon WHERE id = ?", int(page.params["id"]))


def _read(page: Page, form: Form, but: int) -> dict[str, Value]:
    code = form.text("code", "Code", limit=24).upper()
    kind = form.choice("kind", "Type", dict(KINDS))
    values: dict[str, Value] = {
        "code": code,
        "description": form.text("description", "Description", limit=200),
        "kind": kind,
        "amount": _amount(form, kind),
        "min_cents": form.cents("least", "Smallest subtotal", needed=False) or 0,
        "starts_on": form.day("starts", "Valid from"),
        "ends_on": form.day("ends", "Valid to"),
        "use_limit": _limit(form),
        "active": int(form.ticked("active")),
    }
    if "code" not in form.errors:
        if not _CODE.fullmatch(code):
            form.errors["code"] = "Code: please use 3 to 24 letters, digits and hyphens."
        elif page.db.one("SELECT 1 FROM coupon WHERE code = ? AND id <> ?", code, but):
            form.errors["code"] = "Code: there is already a coupon with this code."
    if not {"starts", "ends"} & set(form.errors) and str(values["ends_on"]) < str(values["starts_on"]):
        form.errors["ends"] = "Valid to: please enter a date that is not before Valid from."
    return values


def _amount(form: Form, kind: str) -> int:
    """Percent, or cents; free shipping has none."""
    match kind:
        case "percent":
            return form.number("amount", "Amount", low=1, high=100)
        case "fixed":
            cents = form.cents("amount", "Amount")
            if cents == 0:
                form.errors["amount"] = "Amount: please enter an amount above 0."
            return cents or 0
        case _:
            return 0


def _limit(form: Form) -> int | None:
    limit = form.number("limit", "Use limit", low=1, otherwise=0)
    return limit or None
