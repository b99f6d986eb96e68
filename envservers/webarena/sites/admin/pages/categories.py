"""The tree of categories."""

from __future__ import annotations

import re

from envservers.webarena.site import SiteResponse
from envservers.webarena.sites.admin import search_index
from envservers.webarena.sites.common.forms import Form
from envservers.webarena.sites.common.page import Page
from envservers.webarena.state.database import Db, Row


def show(page: Page) -> SiteResponse:
    """One department with what is below it; the first unless asked."""
    tops = page.db.all("SELECT * FROM category WHERE parent_id IS NULL ORDER BY position, id")
    chosen = next((row for row in tops if str(row["id"]) == page.asked("department")), tops[0] if tops else None)
    return page.render(
        "categories.html", tops=tops, chosen=chosen, rows=_below(page.db, chosen["id"]) if chosen else []
    )


def edit(page: Page) -> SiteResponse:
    """Name, description, place and whether it shows."""
    row = _category(page)
    if row is None:
        return page.not_found()
    return page.render(
        "category.html", row=row, path=_path(page.db, row), level=_level(page.db, row), draft=page.draft()
    )


def save(page: Page) -> SiteResponse:
    """Change it."""
    row = _category(page)
    if row is None:
        return page.not_found()
    form = Form(page.request.form)
    name = form.text("name", "Category name", limit=60)
    about = form.text("description", "Description", limit=500, needed=False, lines=True)
    position = form.number("position", "Position", low=1, high=999)
    if form.errors:
        return page.refuse(form, page.path)
    page.db.write(
        "UPDATE category SET name = ?, description = ?, position = ?, active = ? WHERE id = ?",
        *(name, about, position, int(form.ticked("active")), row["id"]),
    )
    if name != row["name"]:
        search_index.renew_category(page.db, row["id"])
    page.flash("You saved the category.")
    return page.go(page.path)


def new(page: Page) -> SiteResponse:
    """A form for a category below this one."""
    row = _category(page)
    if row is None or _level(page.db, row) > 2:
        return page.not_found()
    return page.render("category_new.html", parent=row, draft=page.draft())


def create(page: Page) -> SiteResponse:
    """A new category, the last of its siblings."""
    row = _category(page)
    if row is None or _level(page.db, row) > 2:
        return page.not_found()
    form = Form(page.request.form)
    name = form.text("name", "Category name", limit=60)
    about = form.text("description", "Description", limit=500, needed=False, lines=True)
    if not form.errors and page.db.one(
        "SELECT 1 FROM category WHERE parent_id = ? AND lower(name) = lower(?)", row["id"], name
    ):
        form.errors["name"] = "Category name: there is already a category with this name here."
    if form.errors:
        return page.refuse(form, page.path)
    last = page.db.value("SELECT coalesce(max(position), 0) FROM category WHERE parent_id = ?", row["id"])
    made = page.db.write(
        "INSERT INTO category (parent_id, name, slug, position, description, active) VALUES (?, ?, ?, ?, ?, ?)",
        *(row["id"], name, _free_slug(page.db, row, name), last + 1, about, int(form.ticked("active"))),
    )
    page.flash("You saved the category.")
    return page.go(f"/categories/{made}")


def _category(page: Page) -> Row | None:
    return page.db.one("SELECT * FROM category WHERE id = ?", int(page.params["id"]))


def _level(db: Db, row: Row) -> int:
    """1 for a department, 3 for what holds products."""
    return len(_path(db, row)) + 1


def _path(db: Db, row: Row) -> list[Row]:
    """What lies above it, the department first."""
    above: list[Row] = []
    parent = row["parent_id"]
    while parent is not None:
        found = db.one("SELECT * FROM category WHERE id = ?", parent)
        if found is None:
            break
        above.insert(0, found)
        parent = found["parent_id"]
    return above


def _below(db: Db, top: int) -> list[Row]:
    """Groups of a department and the categories in them, with how many products each of these holds."""
    return db.all(
        "SELECT category.*, 0 AS number, category.position AS place, 0 AS inner FROM category WHERE parent_id = ?"
        " UNION ALL SELECT leaf.*, (SELECT count(*) FROM product WHERE category_id = leaf.id), middle.position,"
        " leaf.position FROM category AS middle JOIN category AS leaf ON leaf.parent_id = middle.id"
        " WHERE middle.parent_id = ? ORDER BY place, inner, id",
        *(top, top),
    )


def _free_slug(db: Db, parent: Row, name: str) -> str:
    base = f"{parent['slug']}-{re.sub(r'[^a-z0-9]+', '-', name.lower()).strip('-')}".strip("-")
    found, number = base, 2
    while db.one("SELECT 1 FROM category WHERE slug = ?", found):
        found, number = f"{base}-{number}", number + 1
    return found
