"""Help pages, the contact form and the newsletter."""

from __future__ import annotations

from envservers.webarena.site import SiteResponse
from envservers.webarena.sites.common.forms import Form
from envservers.webarena.sites.common.page import Page

SUBJECTS = ("My order", "A product", "Delivery", "Something else")


def help_pages(page: Page) -> SiteResponse:
    """What there is to read."""
    return page.render("help.html", topics=page.db.all("SELECT * FROM cms_page WHERE active ORDER BY title"))


def help_page(page: Page) -> SiteResponse:
    """One of the store's pages."""
    row = page.db.one("SELECT * FROM cms_page WHERE slug = ? AND active", page.params["slug"])
    return page.render("help_page.html", topic=row) if row else page.not_found()


def contact(page: Page) -> SiteResponse:
    """Where one writes to the shop."""
    return page.render("contact.html", draft=page.draft(), subjects=SUBJECTS)


def send_contact(page: Page) -> SiteResponse:
    """Keep the message."""
    form = Form(page.request.form)
    name = form.text("name", "Name")
    email = form.email()
    subject = form.choice("subject", "Subject", SUBJECTS)
    number = form.text("order_number", "Order number", limit=20, needed=False)
    body = form.text("body", "Message", limit=3000, lines=True)
    if number and not page.db.one("SELECT 1 FROM sales_order WHERE number = ?", number):
        form.errors["order_number"] = "Order number: there is no order with this number."
    if form.errors:
        return page.refuse(form, "/contact")
    page.db.write(
        "INSERT INTO contact_message (name, email, subject, order_number, body, created_at) VALUES (?, ?, ?, ?, ?, ?)",
        *(name, email, subject, number, body, page.now.time),
    )
    page.flash("Thank you for your message. We will answer within two working days.")
    return page.go("/contact")


def newsletter(page: Page) -> SiteResponse:
    """For readers without an account; customers have it among their settings."""
    return page.go("/account/newsletter") if page.customer else page.render("newsletter.html", draft=page.draft())


def subscribe(page: Page) -> SiteResponse:
    """A new reader."""
    form = Form(page.request.form)
    email = form.email()
    if not form.errors and (
        page.db.one("SELECT 1 FROM subscriber WHERE lower(email) = lower(?)", email)
        or page.db.one("SELECT 1 FROM customer WHERE lower(email) = lower(?) AND newsletter", email)
    ):
        form.errors["email"] = "This email address is already subscribed."
    if form.errors:
        return page.refuse(form, "/newsletter")
    page.db.write("INSERT INTO subscriber (email, created_at) VALUES (?, ?)", email, page.now.time)
    page.flash("Thank you for your subscription.")
    return page.go("/newsletter")
