"""Groups of customers and their discounts."""

from __future__ import annotations

from envservers.webarena.site import SiteResponse
from envservers.webarena.sites.common.forms import Form
from envservers.webarena.sites.common.page import Page
from envservers.webarena.state.database import Row


def show(page: Page) -> SiteResponse:
    """All of them, with how many customers each has."""
    rows = page.db.all(
        "SELECT customer_group.*, (SELECT count(*) FROM customer WHERE group_id = customer_group.id) AS number"
        " FROM customer_group ORDER BY id"
    )
    return page.render("groups.html", rows=rows)


def new(page: Page) -> SiteResponse:
    """An empty form."""
    return page.render("group.html", row=None, draft=page.draft())


def create(page: Page) -> SiteResponse:
    """One more."""
    form = Form(page.request.form)
    name, percent = _read(page, form, 0)
    if form.errors:
        return page.refuse(form, page.path)
    page.db.write("INSERT INTO customer_group (name, discount_percent) VALUES (?, ?)", name, percent)
    page.flash("You saved the customer group.")
    return page.go("/groups")


def edit(page: Page) -> SiteResponse:
    """The form of one group."""
    row = _group(page)
    return page.render("group.html", row=row, draft=page.draft()) if row else page.not_found()


def save(page: Page) -> SiteResponse:
    """Change it."""
    row = _group(page)
    if row is None:
        return page.not_found()
    form = Form(page.request.form)
    name, percent = _read(page, form, row["id"])
    if form.errors:
        return page.refuse(form, page.path)
    page.db.write("UPDATE customer_group SET name = ?, discount_percent = ? WHERE id = ?", name, percent, row["id"])
    page.flash("You saved the customer group.")
    return page.go("/groups")


def _group(page: Page) -> Row | None:
    return page.db.one("SELECT * FROM customer_group WHERE id = ?", int(page.params["id"]))


def _read(page: Page, form: Form, but: int) -> tuple[str, int]:
    name = form.text("name", "Group name", limit=40)
    percent = form.number("discount", "Discount in percent", high=90)
    if "name" not in form.errors and page.db.one(
        "SELECT 1 FROM customer_group WHERE lower(name) = lower(?) AND id <> ?", name, but
    ):
        form.errors["name"] = "Group name: there is already a group with this name."
    return name, percent
