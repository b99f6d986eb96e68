"""Signing in and out, and the page for roles that lack a permission."""

from __future__ import annotations

from envservers.webarena.site import SiteResponse
from envservers.webarena.sites.admin.layout import first_page
from envservers.webarena.sites.admin.permissions import areas_of, refuse
from envservers.webarena.sites.common import logins
from envservers.webarena.sites.common.forms import Form
from envservers.webarena.sites.common.page import Page, address, local


def form(page: Page) -> SiteResponse:
    """Where one signs in."""
    if page.admin:
        return page.go(first_page(areas_of(page.admin)))
    return page.render("login.html", draft=page.draft(), next=page.asked("next"))


def sign_in(page: Page) -> SiteResponse:
    """Sign in."""
    sent = Form(page.request.form)
    name = sent.text("username", "User name")
    password = sent.password("password", "Password")
    row = page.db.one(
        "SELECT admin_user.*, permissions FROM admin_user JOIN admin_role ON admin_role.id = role_id"
        " WHERE lower(username) = lower(?)",
        name,
    )
    wanted = page.sent("next")
    wanted = wanted if local(wanted) else ""
    if not sent.errors:
        if row is None or row["password"] != password:
            sent.errors["password"] = "The user name or password is not correct."
        elif not row["active"]:
            sent.errors["username"] = "This account is not active. Please ask your administrator."
    if sent.errors or row is None:
        return page.refuse(sent, address("/login", next=wanted))
    cookie = logins.log_in(page.db, page.now, admin=row["id"])
    start = first_page(areas_of(row)) if wanted in ("", "/") else wanted
    return page.go(start, cookies=((logins.COOKIE, cookie),))


def sign_out(page: Page) -> SiteResponse:
    """Asked for once more, since links change nothing."""
    return page.render("logout.html")


def leave(page: Page) -> SiteResponse:
    """Sign out."""
    logins.log_out(page.db, page.request.cookies)
    page.flash("You have signed out.")
    return page.go("/login", cookies=((logins.COOKIE, ""),))


def no_permission(page: Page) -> SiteResponse:
    """Where a form leads that the role may not send."""
    return refuse(page)
