"""What customers wrote: approving, rejecting, mending, deleting."""

from __future__ import annotations

from typing import Any

from envservers.webarena.site import SiteResponse
from envservers.webarena.sites.admin.grid import Column, Filters, grid, picked
from envservers.webarena.sites.common.formats import count, words
from envservers.webarena.sites.common.forms import Form
from envservers.webarena.sites.common.page import Page
from envservers.webarena.state.database import Row

STATUSES = ("pending", "approved", "rejected")
STARS = [("5", "5 stars"), ("4", "4 stars"), ("3", "3 stars"), ("2", "2 stars"), ("1", "1 star")]
COLUMNS = (
    Column("id", "ID", "review.id", number=True),
    Column("date", "Created", "review.id"),  # ids rise with the time, and need no sorting
    Column("status", "Status", "review.status"),
    Column("stars", "Rating", "stars", number=True),
    Column("title", "Summary", "title"),
    Column("nickname", "Nickname", "nickname"),
    Column("product", "Product", "product.name"),
)
_SOURCE = "review LEFT JOIN product ON product.id = product_id"  # LEFT: not looked up unless it is used
_LIST: dict[str, Any] = {
    "select": "review.*, product.name AS product",
    "source": _SOURCE,
    "first": "-date",
    "key": "review.id",
}


def show(page: Page) -> SiteResponse:
    """A page of them."""
    filters = Filters(page)
    filters.choice("status", "Status", STATUSES, "review.status")
    filters.choice("stars", "Rating", [value for value, _ in STARS], "CAST(stars AS TEXT)")
    filters.contains("product", "Product", "product.name")
    filters.contains("nickname", "Nickname", "nickname")
    filters.contains("words", "Words", "title", "body")
    filters.days("review.created_at")
    found = grid(page, COLUMNS, filters, **_LIST)
    return page.render("reviews.html", grid=found, filters=filters, statuses=_choices(), stars=STARS)


def change_many(page: Page) -> SiteResponse:
    """One status for all that were picked, or away with them."""
    chosen, deed = picked(page), page.sent("do")
    back = page.came_from("/reviews")
    if not chosen or deed not in (*STATUSES, "delete"):
        page.flash("Please choose an action." if chosen else "Please select at least one review.", "error")
        return page.go(back)
    marks = ",".join("?" * len(chosen))
    number = page.db.value(f"SELECT count(*) FROM review WHERE id IN ({marks})", *chosen)
    if deed == "delete":
        page.db.write(f"DELETE FROM review WHERE id IN ({marks})", *chosen)
    else:
        page.db.write(f"UPDATE review SET status = ? WHERE id IN ({marks})", deed, *chosen)
    done = "deleted" if deed == "delete" else "set to pending" if deed == "pending" else deed
    page.flash(f"{count(number, 'review was', 'reviews were')} {done}.")
    return page.go(back)


def edit(page: Page) -> SiteResponse:
    """One review, all of it."""
    row = _review(page)
    if row is None:
        return page.not_found()
    return page.render("review.html", row=row, draft=page.draft(), statuses=_choices(), stars=STARS)


def save(page: Page) -> SiteResponse:
    """Change it."""
    row = _review(page)
    if row is None:
        return page.not_found()
    form = Form(page.request.form)
    status = form.choice("status", "Status", STATUSES)
    stars = form.choice("stars", "Rating", [value for value, _ in STARS])
    nickname = form.text("nickname", "Nickname", limit=40)
    title = form.text("title", "Summary", limit=120)
    body = form.text("body", "Review", limit=2000, lines=True)
    if form.errors:
        return page.refuse(form, page.path)
    page.db.write(
        "UPDATE review SET status = ?, stars = ?, nickname = ?, title = ?, body = ? WHERE id = ?",
        *(status, int(stars), nickname, title, body, row["id"]),
    )
    page.flash("You saved the review.")
    return page.go(page.path)


def decide(page: Page) -> SiteResponse:
    """Approve or reject it."""
    row = _review(page)
    if row is None:
        return page.not_found()
    status = page.sent("status")
    if status not in ("approved", "rejected"):
        page.flash("Please choose an action.", "error")
        return page.go(f"/reviews/{row['id']}")
    page.db.write("UPDATE review SET status = ? WHERE id = ?", status, row["id"])
    page.flash(f"The review was {status}.")
    return page.go(f"/reviews/{row['id']}")


def ask_delete(page: Page) -> SiteResponse:
    """Whether it shall really go."""
    row = _review(page)
    return page.render("review_delete.html", row=row) if row else page.not_found()


def delete(page: Page) -> SiteResponse:
    """Remove it."""
    row = _review(page)
    if row is None:
        return page.not_found()
    page.db.write("DELETE FROM review WHERE id = ?", row["id"])
    page.flash("You deleted the review.")
    return page.go("/reviews")


def _choices() -> list[tuple[str, str]]:
    return [(code, words(code)) for code in STATUSES]


def _review(page: Page) -> Row | None:
    return page.db.one(
        "SELECT review.*, product.name AS product, customer.email, customer.first_name, customer.last_name"
        f" FROM {_SOURCE} LEFT JOIN customer ON customer.id = review.customer_id WHERE review.id = ?",
        int(page.params["id"]),
    )
