"""The homepage's page functions."""

from __future__ import annotations

from envservers.webarena.site import SiteResponse
from envservers.webarena.sites.common.forms import Form
from envservers.webarena.sites.common.page import Page
from envservers.webarena.sites.home.sums import SumError, calculate, written

SITES = (
    ("http://shop.test/", "Shop", "Buy things, look after your orders, and write reviews.", "cart"),
    ("http://admin.shop.test/", "Shop administration", "Orders, products, customers and reports of the shop.", "chart"),
)
TOOLS = (
    ("/calculator", "Calculator", "Work out a sum.", "calculator"),
    ("/scratchpad", "Scratchpad", "Keep notes while you work.", "page"),
    ("/accounts", "Accounts", "User names and passwords for the sites.", "user"),
)
LONGEST_NOTE = 4000
LONGEST_SUM = 200
MAIN = 1
"""Row of the customer and of the admin user whose accounts these are."""


def start(page: Page) -> SiteResponse:
    """Where to go from here."""
    return page.render("home.html", sites=SITES, tools=TOOLS)


def accounts(page: Page) -> SiteResponse:
    """Who one can sign in as."""
    return page.render(
        "accounts.html",
        shopper=page.db.one("SELECT * FROM customer WHERE id = ?", MAIN),
        manager=page.db.one(
            "SELECT admin_user.*, admin_role.name AS role_name FROM admin_user"
            " JOIN admin_role ON admin_role.id = role_id WHERE admin_user.id = ?",
            MAIN,
        ),
    )


def calculator(page: Page) -> SiteResponse:
    """The form, and the result of what it asks."""
    asked = page.asked("expression").strip()
    result = error = ""
    if asked:
        try:
            result = written(calculate(asked[:LONGEST_SUM]))
        except SumError as fault:
            error = str(fault)
    return page.render("calculator.html", asked=asked, result=result, error=error, longest=LONGEST_SUM)


def scratchpad(page: Page) -> SiteResponse:
    """What was noted in this session."""
    return page.render(
        "scratchpad.html", note=page.db.scratch.get("scratchpad", ""), draft=page.draft(), longest=LONGEST_NOTE
    )


def save_scratchpad(page: Page) -> SiteResponse:
    """Keep it."""
    form = Form(page.request.form)
    text = form.text("note", "Notes", limit=LONGEST_NOTE, needed=False, lines=True)
    if form.errors:
        return page.refuse(form, "/scratchpad")
    page.db.scratch["scratchpad"] = text
    page.flash("Your notes were saved.")
    return page.go("/scratchpad")


def clear_scratchpad(page: Page) -> SiteResponse:
    """Forget it."""
    page.db.scratch.pop("scratchpad", None)
    page.flash("Your notes were cleared.")
    return page.go("/scratchpad")
