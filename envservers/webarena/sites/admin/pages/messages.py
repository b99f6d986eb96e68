"""What came in by the shop's contact form, and who reads its newsletter."""

from __future__ import annotations

from envservers.webarena.site import SiteResponse
from envservers.webarena.sites.admin.grid import Column, Filters, grid, picked
from envservers.webarena.sites.common.formats import count
from envservers.webarena.sites.common.page import Page
from envservers.webarena.sites.shop.pages.service import SUBJECTS

_MESSAGES = (
    Column("id", "Message", "contact_message.id"),
    Column("date", "Received", "contact_message.created_at"),
    Column("name", "Name", "contact_message.name"),
    Column("email", "Email", "contact_message.email"),
    Column("subject", "Subject", "subject"),
    Column("order", "Order", "order_number"),
)
_READERS = (
    Column("id", "ID", "subscriber.id", number=True),
    Column("email", "Email", "email"),
    Column("since", "Subscribed on", "created_at"),
)


def show(page: Page) -> SiteResponse:
    """A page of messages."""
    filters = Filters(page)
    filters.contains("name", "Name", "contact_message.name", "contact_message.email")
    filters.choice("subject", "Subject", SUBJECTS, "subject")
    filters.contains("words", "Words", "body")
    filters.days("contact_message.created_at")
    found = grid(
        page,
        _MESSAGES,
        filters,
        select="*",
        source="contact_message",
        first="-id",
        key="contact_message.id",
    )
    return page.render("messages.html", grid=found, filters=filters, subjects=[(name, name) for name in SUBJECTS])


def message(page: Page) -> SiteResponse:
    """One of them."""
    row = page.db.one("SELECT * FROM contact_message WHERE id = ?", int(page.params["id"]))
    if row is None:
        return page.not_found()
    customer = page.db.one("SELECT * FROM customer WHERE lower(email) = lower(?)", row["email"])
    return page.render("message.html", row=row, customer=customer)


def subscribers(page: Page) -> SiteResponse:
    """A page of those who read the newsletter without an account."""
    filters = Filters(page)
    filters.contains("email", "Email", "email")
    filters.days("created_at")
    found = grid(page, _READERS, filters, select="*", source="subscriber", first="-id", key="subscriber.id")
    return page.render("subscribers.html", grid=found, filters=filters)


def unsubscribe(page: Page) -> SiteResponse:
    """Take the picked ones off the list."""
    chosen = picked(page)
    back = page.came_from("/subscribers")
    if not chosen or page.sent("do") != "delete":
        page.flash("Please choose an action." if chosen else "Please select at least one subscriber.", "error")
        return page.go(back)
    marks = ",".join("?" * len(chosen))
    number = page.db.value(f"SELECT count(*) FROM subscriber WHERE id IN ({marks})", *chosen)
    page.db.write(f"DELETE FROM subscriber WHERE id IN ({marks})", *chosen)
    page.flash(f"{count(number, 'subscriber was', 'subscribers were')} removed.")
    return page.go(back)
