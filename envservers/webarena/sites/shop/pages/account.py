"""The customer's account: overview, details, password, newsletter, addresses, reviews."""

from __future__ import annotations

from envservers.webarena.site import SiteResponse
from envservers.webarena.sites.common.forms import Form
from envservers.webarena.sites.common.page import Page
from envservers.webarena.sites.common.paging import pages
from envservers.webarena.sites.shop import orders
from envservers.webarena.sites.shop.orders import ADDRESS
from envservers.webarena.sites.shop.pages.address_form import address_values, read_address, regions
from envservers.webarena.sites.shop.pages.entrance import SHORTEST_PASSWORD, taken
from envservers.webarena.sites.shop.pages.product import STARS
from envservers.webarena.state.database import Row

LATEST = 5
REVIEWS_PER_PAGE = 10


def overview(page: Page) -> SiteResponse:
    """Who one is, and the latest orders."""
    me = _me(page)
    default = page.db.one(f"{_ADDRESSES} LIMIT 1", me["id"])
    latest = orders.history(page.db, me["id"], "", limit=LATEST)
    return page.render("account.html", me=me, default=default, latest=latest)


def profile(page: Page) -> SiteResponse:
    """Name, e-mail and phone."""
    return page.render("profile.html", me=_me(page), draft=page.draft())


def save_profile(page: Page) -> SiteResponse:
    """Change them."""
    me = _me(page)
    form = Form(page.request.form)
    first = form.text("first_name", "First name", limit=60)
    last = form.text("last_name", "Last name", limit=60)
    email = form.email()
    phone = form.text("phone", "Phone number", limit=30, needed=False)
    if "email" not in form.errors and taken(page, email, but=me["id"]):
        form.errors["email"] = "There is already an account with this email address."
    if form.errors:
        return page.refuse(form, "/account/profile")
    page.db.write(
        "UPDATE customer SET first_name = ?, last_name = ?, email = ?, phone = ? WHERE id = ?",
        *(first, last, email, phone, me["id"]),
    )
    page.flash("You saved the account information.")
    return page.go("/account/profile")


def password_form(page: Page) -> SiteResponse:
    """Where the password is changed."""
    return page.render("password.html", draft=page.draft())


def save_password(page: Page) -> SiteResponse:
    """Change it."""
    me = _me(page)
    form = Form(page.request.form)
    old = form.password("old", "Current password")
    new = form.password("new", "New password", at_least=SHORTEST_PASSWORD)
    if "old" not in form.errors and old != me["password"]:
        form.errors["old"] = "The current password is not correct."
    if form.password("again", "Confirm new password") != new and not form.errors:
        form.errors["again"] = "Confirm new password: please enter the same password again."
    if form.errors:
        return page.refuse(form, "/account/password")
    page.db.write("UPDATE customer SET password = ? WHERE id = ?", new, me["id"])
    page.flash("Your password was changed.")
    return page.go("/account/profile")


def newsletter(page: Page) -> SiteResponse:
    """Whether one gets it."""
    return page.render("account_newsletter.html", me=_me(page))


def save_newsletter(page: Page) -> SiteResponse:
    """Subscribe or not."""
    wanted = Form(page.request.form).ticked("newsletter")
    page.db.write("UPDATE customer SET newsletter = ? WHERE id = ?", int(wanted), _me(page)["id"])
    page.flash("You are subscribed to our newsletter." if wanted else "You are no longer subscribed to our newsletter.")
    return page.go("/account/newsletter")


def addresses(page: Page) -> SiteResponse:
    """The address book."""
    return page.render("addresses.html", addresses=page.db.all(_ADDRESSES, _me(page)["id"]))


def new_address(page: Page) -> SiteResponse:
    """An empty form."""
    start = address_values(None) | {"first_name": _me(page)["first_name"], "last_name": _me(page)["last_name"]}
    return _address_form(page, "Add a new address", start, False)


def edit_address(page: Page) -> SiteResponse:
    """The form of one address."""
    row = _address(page)
    if row is None:
        return page.not_found()
    return _address_form(page, "Edit address", address_values(row), bool(row["is_default"]))


def add_address(page: Page) -> SiteResponse:
    """A new one; the first is the default."""
    me = _me(page)
    form = Form(page.request.form)
    typed = read_address(form, page.db)
    if form.errors:
        return page.refuse(form, page.path)
    first = page.db.one("SELECT 1 FROM address WHERE customer_id = ?", me["id"]) is None
    default = form.ticked("is_default")
    if default:
        _no_default(page)
    page.db.write(
        f"INSERT INTO address (customer_id, {', '.join(ADDRESS)}, is_default) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        *(me["id"], *(typed[name] for name in ADDRESS), int(first or default)),
    )
    page.flash("You saved the address.")
    return page.go("/account/addresses")


def save_address(page: Page) -> SiteResponse:
    """Change one."""
    row = _address(page)
    if row is None:
        return page.not_found()
    form = Form(page.request.form)
    typed = read_address(form, page.db)
    if form.errors:
        return page.refuse(form, page.path)
    default = form.ticked("is_default") or bool(row["is_default"])
    if default and not row["is_default"]:
        _no_default(page)
    page.db.write(
        f"UPDATE address SET {', '.join(f'{name} = ?' for name in ADDRESS)}, is_default = ? WHERE id = ?",
        *(*(typed[name] for name in ADDRESS), int(default), row["id"]),
    )
    page.flash("You saved the address.")
    return page.go("/account/addresses")


def ask_delete_address(page: Page) -> SiteResponse:
    """Whether it shall really go."""
    row = _address(page)
    return page.render("address_delete.html", row=row) if row else page.not_found()


def delete_address(page: Page) -> SiteResponse:
    """Remove one that is not the default."""
    row = _address(page)
    if row is None:
        return page.not_found()
    if row["is_default"]:
        page.flash("The default address cannot be deleted. Please make another address the default first.", "error")
    else:
        page.db.write("DELETE FROM address WHERE id = ?", row["id"])
        page.flash("You deleted the address.")
    return page.go("/account/addresses")


def reviews(page: Page) -> SiteResponse:
    """What one wrote."""
    me = _me(page)
    cut = pages(
        page.db.value("SELECT count(*) FROM review WHERE customer_id = ?", me["id"]),
        page.asked("page"),
        REVIEWS_PER_PAGE,
    )
    rows = page.db.all(
        f"{_REVIEWS} ORDER BY review.created_at DESC, review.id DESC LIMIT ? OFFSET ?", me["id"], cut.per, cut.skipped
    )
    return page.render("my_reviews.html", reviews=rows, pages=cut)


def edit_review(page: Page) -> SiteResponse:
    """The form of one review."""
    row = _review(page)
    return page.render("my_review.html", row=row, draft=page.draft(), choices=STARS) if row else page.not_found()


def save_review(page: Page) -> SiteResponse:
    """Change it; it is looked at anew before it shows."""
    row = _review(page)
    if row is None:
        return page.not_found()
    form = Form(page.request.form)
    stars = form.choice("stars", "Your rating", [value for value, _ in STARS])
    title = form.text("title", "Summary", limit=120)
    body = form.text("body", "Review", limit=2000, lines=True)
    if form.errors:
        return page.refuse(form, page.path)
    page.db.write(
        "UPDATE review SET stars = ?, title = ?, body = ?, status = 'pending' WHERE id = ?",
        *(int(stars), title, body, row["id"]),
    )
    page.flash("Your review was changed and will show once our team has read it.")
    return page.go("/account/reviews")


def ask_delete_review(page: Page) -> SiteResponse:
    """Whether it shall really go."""
    row = _review(page)
    return page.render("my_review_delete.html", row=row) if row else page.not_found()


def delete_review(page: Page) -> SiteResponse:
    """Remove it."""
    row = _review(page)
    if row is None:
        return page.not_found()
    page.db.write("DELETE FROM review WHERE id = ?", row["id"])
    page.flash("You deleted the review.")
    return page.go("/account/reviews")


_ADDRESSES = "SELECT * FROM address WHERE customer_id = ? ORDER BY is_default DESC, id"
_REVIEWS = """
SELECT review.*, product.name AS product, CASE WHEN product.status = 'enabled' THEN '/p/' || slug ELSE '' END AS path
FROM review JOIN product ON product.id = product_id WHERE review.customer_id = ?
"""


def _me(page: Page) -> Row:
    assert page.customer is not None  # the routes need a customer
    return page.customer


def _address(page: Page) -> Row | None:
    """One of the customer's own."""
    return page.db.one(
        "SELECT * FROM address WHERE id = ? AND customer_id = ?", int(page.params["id"]), _me(page)["id"]
    )


def _review(page: Page) -> Row | None:
    """One of the customer's own."""
    return page.db.one(f"{_REVIEWS} AND review.id = ?", _me(page)["id"], int(page.params["id"]))


def _address_form(page: Page, title: str, start: dict[str, str], default: bool) -> SiteResponse:
    return page.render(
        "address_form.html", title=title, start=start, default=default, draft=page.draft(), regions=regions(page.db)
    )


def _no_default(page: Page) -> None:
    page.db.write("UPDATE address SET is_default = 0 WHERE customer_id = ? AND is_default", _me(page)["id"])
