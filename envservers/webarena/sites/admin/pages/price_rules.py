"""Price rules: some percent off a category, or off everything, from one day to another."""

from __future__ import annotations

from envservers.webarena.site import SiteResponse
from envservers.webarena.sites.admin.grid import Column, Filters, grid
from envservers.webarena.sites.common.forms import Form
from envservers.webarena.sites.common.page import Page
from envservers.webarena.state.database import Db, Row, Value

COLUMNS = (
    Column("id", "ID", "price_rule.id", number=True),
    Column("name", "Rule", "price_rule.name"),
    Column("category", "Category", "category.name"),
    Column("percent", "Percent off", "percent", number=True),
    Column("starts", "Valid from", "starts_on"),
    Column("ends", "Valid to", "ends_on"),
    Column("active", "Active", "price_rule.active"),
)
EMPTY = {"name": "", "category": "", "percent": "", "starts": "", "ends": "", "active": True}


def show(page: Page) -> SiteResponse:
    """A page of them."""
    filters = Filters(page)
    filters.contains("name", "Rule", "price_rule.name")
    filters.choice("active", "Active", ("1", "0"), "CAST(price_rule.active AS TEXT)")
    filters.holds_on("valid", "starts_on", "ends_on")
    found = grid(
        page,
        COLUMNS,
        filters,
        select="price_rule.*, category.name AS category",
        source="price_rule LEFT JOIN category ON category.id = category_id",
        first="id",
        key="price_rule.id",
    )
    return page.render("price_rules.html", grid=found, filters=filters)


def new(page: Page) -> SiteResponse:
    """An empty form."""
    start = EMPTY | {"starts": page.today}
    return page.render("price_rule.html", row=None, start=start, draft=page.draft(), categories=categories(page.db))


def create(page: Page) -> SiteResponse:
    """One more."""
    form = Form(page.request.form)
    typed = _read(page, form)
    if form.errors:
        return page.refuse(form, page.path)
    page.db.write(
        f"INSERT INTO price_rule ({', '.join(typed)}) VALUES ({', '.join('?' * len(typed))})", *typed.values()
    )
    page.flash("You saved the price rule.")
    return page.go("/price-rules")


def edit(page: Page) -> SiteResponse:
    """The form of one rule."""
    row = _rule(page)
    if row is None:
        return page.not_found()
    start = {
        "name": row["name"],
        "category": row["category_id"] or "",
        "percent": row["percent"],
        "starts": row["starts_on"],
        "ends": row["ends_on"],
        "active": row["active"],
    }
    return page.render("price_rule.html", row=row, start=start, draft=page.draft(), categories=categories(page.db))


def save(page: Page) -> SiteResponse:
    """Change it."""
    row = _rule(page)
    if row is None:
        return page.not_found()
    form = Form(page.request.form)
    typed = _read(page, form)
    if form.errors:
        return page.refuse(form, page.path)
    page.db.write(
        f"UPDATE price_rule SET {', '.join(f'{name} = ?' for name in typed)} WHERE id = ?", *typed.values(), row["id"]
    )
    page.flash("You saved the price rule.")
    return page.go("/price-rules")


def categories(db: Db) -> list[tuple[str, str]]:
    """Every category with the path to it: a rule holds for all below."""
    rows = db.all(
        "SELECT leaf.id, coalesce(top.name || ' / ', '') || coalesce(middle.name || ' / ', '') || leaf.name AS path"
        " FROM category AS leaf LEFT JOIN category AS middle ON middle.id = leaf.parent_id"
        " LEFT JOIN category AS top ON top.id = middle.parent_id ORDER BY path, leaf.id"
    )
    return [(str(row["id"]), row["path"]) for row in rows]


def _rule(page: Page) -> Row | None:
    return page.db.one("SELECT * FROM price_rule WHERE id = ?", int(page.params["id"]))


def _read(page: Page, form: Form) -> dict[str, Value]:
    category = form.choice("category", "Category", dict(categories(page.db)), needed=False)
    values: dict[str, Value] = {
        "name": form.text("name", "Rule name", limit=80),
        "category_id": int(category) if category else None,
        "percent": form.number("percent", "Percent off", low=1, high=90),
        "starts_on": form.day("starts", "Valid from"),
        "ends_on": form.day("ends", "Valid to"),
        "active": int(form.ticked("active")),
    }
    if not {"starts", "ends"} & set(form.errors) and str(values["ends_on"]) < str(values["starts_on"]):
        form.errors["ends"] = "Valid to: please enter a date that is not before Valid from."
    return values
