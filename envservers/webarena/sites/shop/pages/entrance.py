"""Signing in and out, and new accounts."""

from __future__ import annotations

from envservers.webarena.site import SiteResponse
from envservers.webarena.sites.common import logins
from envservers.webarena.sites.common.forms import Form
from envservers.webarena.sites.common.page import Page, local
from envservers.webarena.sites.shop import baskets

SHORTEST_PASSWORD = 8


def form(page: Page) -> SiteResponse:
    """Where one signs in."""
    if page.customer:
        return page.go("/account")
    return page.render("login.html", draft=page.draft(), next=page.asked("next"))


def sign_in(page: Page) -> SiteResponse:
    """Sign in; the guest's cart comes along."""
    sent = Form(page.request.form)
    email = sent.email()
    password = sent.password("password", "Password")
    row = page.db.one("SELECT * FROM customer WHERE lower(email) = lower(?) AND active", email)
    wanted = page.sent("next")
    if not sent.errors and (row is None or row["password"] != password):
        sent.errors["password"] = "The email or password you entered is not correct."
    if sent.errors or row is None:
        return page.refuse(sent, f"/login?next={wanted}" if local(wanted) else "/login")
    baskets.hand_over(page, row["id"])
    return page.go(wanted if local(wanted) else "/account", cookies=_cookie(page, row["id"]))


def sign_out(page: Page) -> SiteResponse:
    """Asked for once more, since links change nothing."""
    return page.render("logout.html") if page.customer else page.go("/login")


def leave(page: Page) -> SiteResponse:
    """Sign out."""
    logins.log_out(page.db, page.request.cookies)
    page.flash("You have signed out.")
    return page.go("/", cookies=((logins.COOKIE, ""),))


def register_form(page: Page) -> SiteResponse:
    """Where an account is made."""
    return page.go("/account") if page.customer else page.render("register.html", draft=page.draft())


def register(page: Page) -> SiteResponse:
    """A new customer of the general group, signed in."""
    sent = Form(page.request.form)
    first = sent.text("first_name", "First name", limit=60)
    last = sent.text("last_name", "Last name", limit=60)
    email = sent.email()
    password = sent.password("password", "Password", at_least=SHORTEST_PASSWORD)
    if sent.password("again", "Confirm password") != password and not sent.errors:
        sent.errors["again"] = "Confirm password: please enter the same password again."
    if "email" not in sent.errors and taken(page, email):
        sent.errors["email"] = "There is already an account with this email address."
    if sent.errors:
        return page.refuse(sent, "/register")
    customer_id = page.db.write(
        "INSERT INTO customer (email, password, first_name, last_name, phone, group_id, newsletter, active, created_at)"
        " VALUES (?, ?, ?, ?, '', (SELECT min(id) FROM customer_group), ?, 1, ?)",
        *(email, password, first, last, int(sent.ticked("newsletter")), page.now.time),
    )
    baskets.hand_over(page, customer_id)
    page.flash("Thank you for registering with us.")
    return page.go("/account", cookies=_cookie(page, customer_id))


def forgot_form(page: Page) -> SiteResponse:
    """For those who lost their password."""
    return page.render("forgot.html", draft=page.draft())


def forgot(page: Page) -> SiteResponse:
    """Says the same whether there is an account or not."""
    sent = Form(page.request.form)
    email = sent.email()
    if sent.errors:
        return page.refuse(sent, "/forgot-password")
    page.flash(
        f"If there is an account for {email}, you will get an email with a link to set a new password.", "notice"
    )
    return page.go("/login")


def taken(page: Page, email: str, *, but: int = 0) -> bool:
    """Whether another customer has this address."""
    return page.db.one("SELECT 1 FROM customer WHERE lower(email) = lower(?) AND id <> ?", email, but) is not None


def _cookie(page: Page, customer_id: int) -> tuple[tuple[str, str], ...]:
    return ((logins.COOKIE, logins.log_in(page.db, page.now, customer=customer_id)),)
