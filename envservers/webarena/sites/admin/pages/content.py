"""The store's pages: help, policies, about us."""

from __future__ import annotations

import re

from envservers.webarena.site import SiteResponse
from envservers.webarena.sites.admin.layout import SHOP
from envservers.webarena.sites.common.forms import Form
from envservers.webarena.sites.common.page import Page
from envservers.webarena.state.database import Row, Value

_SLUG = re.compile(r"[a-z0-9][a-z0-9-]{1,59}")


def show(page: Page) -> SiteResponse:
    """All of them."""
    return page.render("content.html", rows=page.db.all("SELECT * FROM cms_page ORDER BY id"))


def new(page: Page) -> SiteResponse:
    """An empty form."""
    return page.render("content_page.html", row=None, in_shop="", draft=page.draft())


def create(page: Page) -> SiteResponse:
    """One more."""
    form = Form(page.request.form)
    typed = _read(page, form, 0)
    if form.errors:
        return page.refuse(form, page.path)
    page.db.write(
        f"INSERT INTO cms_page ({', '.join(typed)}, updated_at) VALUES ({', '.join('?' * len(typed))}, ?)",
        *(*typed.values(), page.now.time),
    )
    page.flash("You saved the page.")
    return page.go("/pages")


def edit(page: Page) -> SiteResponse:
    """The form of one page."""
    row = _page(page)
    if row is None:
        return page.not_found()
    in_shop = f"{SHOP}/help/{row['slug']}" if row["active"] else ""
    return page.render("content_page.html", row=row, in_shop=in_shop, draft=page.draft())


def save(page: Page) -> SiteResponse:
    """Change it."""
    row = _page(page)
    if row is None:
        return page.not_found()
    form = Form(page.request.form)
    typed = _read(page, form, row["id"])
    if form.errors:
        return page.refuse(form, page.path)
    page.db.write(
        f"UPDATE cms_page SET {', '.join(f'{name} = ?' for name in typed)}, updated_at = ? WHERE id = ?",
        *(*typed.values(), page.now.time, row["id"]),
    )
    page.flash("You saved the page.")
    return page.go("/pages")


def _page(page: Page) -> Row | None:
    return page.db.one("SELECT * FROM cms_page WHERE id = ?", int(page.params["id"]))


def _read(page: Page, form: Form, but: int) -> dict[str, Value]:
    values: dict[str, Value] = {
        "title": form.text("title", "Page title", limit=100),
        "slug": form.text("slug", "URL key", limit=60),
        "body": form.text("body", "Content", limit=10_000, lines=True),
        "active": int(form.ticked("active")),
    }
    if "slug" not in form.errors:
        if not _SLUG.fullmatch(str(values["slug"])):
            form.errors["slug"] = "URL key: please use small letters, digits and hyphens."
        elif page.db.one("SELECT 1 FROM cms_page WHERE slug = ? AND id <> ?", values["slug"], but):
            form.errors["slug"] = "URL key: another page has this URL key."
    return values
