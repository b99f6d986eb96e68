"""The page of who is signed in: name, email, password."""

from __future__ import annotations

from envservers.webarena.site import SiteResponse
from envservers.webarena.sites.common.forms import Form
from envservers.webarena.sites.common.page import Page
from envservers.webarena.state.database import Row

SHORTEST_PASSWORD = 8


def show(page: Page) -> SiteResponse:
    """Both forms."""
    return page.render("own_account.html", me=_me(page), draft=page.draft(), secret=page.draft("password"))


def save(page: Page) -> SiteResponse:
    """Change the name or the email address."""
    me = _me(page)
    form = Form(page.request.form)
    first = form.text("first_name", "First name", limit=60)
    last = form.text("last_name", "Last name", limit=60)
    email = form.email()
    if form.errors:
        return page.refuse(form, "/account")
    page.db.write(
        "UPDATE admin_user SET first_name = ?, last_name = ?, email = ? WHERE id = ?", first, last, email, me["id"]
    )
    page.flash("Your account was saved.")
    return page.go("/account")


def save_password(page: Page) -> SiteResponse:
    """Change the password."""
    me = _me(page)
    form = Form(page.request.form)
    old = form.password("old", "Current password")
    new = form.password("new", "New password", at_least=SHORTEST_PASSWORD)
    if "old" not in form.errors and old != me["password"]:
        form.errors["old"] = "The current password is not correct."
    if form.password("again", "Confirm new password") != new and not form.errors:
        form.errors["again"] = "Confirm new password: please enter the same password again."
    if form.errors:
        return page.refuse(form, "/account", "password")
    page.db.write("UPDATE admin_user SET password = ? WHERE id = ?", new, me["id"])
    page.flash("Your password was changed.")
    return page.go("/account")


def _me(page: Page) -> Row:
    assert page.admin is not None  # the routes need one
    return page.admin
