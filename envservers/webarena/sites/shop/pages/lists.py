"""Wish list and comparison. A guest's comparison is in scratch; a wish list needs an account."""

from __future__ import annotations

from envservers.webarena.site import SiteResponse
from envservers.webarena.sites.common.page import Page
from envservers.webarena.sites.shop import baskets, catalogue
from envservers.webarena.state.database import Row

MOST_COMPARED = 4


def wish_list(page: Page) -> SiteResponse:
    """What one would like to have."""
    rows = {row["product_id"]: row for row in page.db.all(f"{_WISHES} ORDER BY added_at DESC, id DESC", _me(page))}
    found = catalogue.items_by_id(page.db, page.today, list(rows))
    return page.render("wishlist.html", wishes=[(item, rows[item.id]["added_at"]) for item in found])


def add_wish(page: Page) -> SiteResponse:
    """Remember a product."""
    row = _product(page)
    if row is None:
        return page.not_found()
    if page.db.one(f"{_WISHES} AND product_id = ?", _me(page), row["id"]):
        page.flash(f"{row['name']} is already in your wish list.", "notice", link="/wishlist", label="View wish list")
    else:
        page.db.write(
            "INSERT INTO wish (customer_id, product_id, added_at) VALUES (?, ?, ?)",
            *(_me(page), row["id"], page.now.time),
        )
        page.flash(f"{row['name']} was added to your wish list.", link="/wishlist", label="View wish list")
    return page.back(f"/p/{row['slug']}")


def remove_wish(page: Page) -> SiteResponse:
    """Forget it."""
    page.db.write("DELETE FROM wish WHERE customer_id = ? AND product_id = ?", _me(page), int(page.params["id"]))
    page.flash("The product was removed from your wish list.")
    return page.go("/wishlist")


def buy_wish(page: Page) -> SiteResponse:
    """Put it into the cart; what comes in colors or sizes is chosen on its page."""
    row = _product(page)
    if row is None:
        return page.not_found()
    if catalogue.variants(page.db, row["id"]):
        page.flash("Please choose the options of this product.", "notice")
        return page.go(f"/p/{row['slug']}")
    if row["stock"] <= 0:
        page.flash(f"{row['name']} is out of stock.", "error")
        return page.go("/wishlist")
    baskets.add(page, row["id"], None, 1)
    page.db.write("DELETE FROM wish WHERE customer_id = ? AND product_id = ?", _me(page), row["id"])
    page.flash(f"{row['name']} was moved to your cart.", link="/cart", label="View cart")
    return page.go("/wishlist")


def comparison(page: Page) -> SiteResponse:
    """Products beside each other."""
    found = catalogue.items_by_id(page.db, page.today, _compared(page))
    specs = {item.id: _specs(page, item.id) for item in found}
    names = list(dict.fromkeys(name for item in found for name in specs[item.id]))
    return page.render("compare.html", items=found, specs=specs, names=names)


def compare(page: Page) -> SiteResponse:
    """Add one."""
    row = _product(page)
    if row is None:
        return page.not_found()
    path = page.came_from(f"/p/{row['slug']}")
    compared = _compared(page)
    if row["id"] in compared:
        page.flash(f"{row['name']} is already in your comparison.", "notice", link="/compare", label="Compare products")
    elif len(compared) >= MOST_COMPARED:
        page.flash(
            f"You can compare at most {MOST_COMPARED} products.", "error", link="/compare", label="Compare products"
        )
    else:
        _set_compared(page, [*compared, row["id"]])
        page.flash(f"{row['name']} was added to your comparison.", link="/compare", label="Compare products")
    return page.go(path)


def drop(page: Page) -> SiteResponse:
    """Take one out."""
    _set_compared(page, [number for number in _compared(page) if number != page.params["id"]])
    page.flash("The product was removed from your comparison.")
    return page.go("/compare")


def clear(page: Page) -> SiteResponse:
    """Take all out."""
    _set_compared(page, [])
    page.flash("Your comparison was cleared.")
    return page.go("/compare")


_WISHES = "SELECT * FROM wish WHERE customer_id = ?"


def _me(page: Page) -> int:
    assert page.customer is not None  # the routes need a customer
    return int(page.customer["id"])


def _product(page: Page) -> Row | None:
    return catalogue.product_by_id(page.db, int(page.params["id"]))


def _compared(page: Page) -> list[int]:
    if page.customer is None:
        return list(page.db.scratch.get("guest_comparison", ()))
    return [
        row["product_id"]
        for row in page.db.all(
            "SELECT product_id FROM comparison WHERE customer_id = ? ORDER BY id", page.customer["id"]
        )
    ]


def _set_compared(page: Page, ids: list[int]) -> None:
    if page.customer is None:
        page.db.scratch["guest_comparison"] = ids
        return
    before = _compared(page)
    for number in before:
        if number not in ids:
            page.db.write(
                "DELETE FROM comparison WHERE customer_id = ? AND product_id = ?", page.customer["id"], number
            )
    for number in ids:
        if number not in before:
            page.db.write("INSERT INTO comparison (customer_id, product_id) VALUES (?, ?)", page.customer["id"], number)


def _specs(page: Page, product_id: int) -> dict[str, str]:
    rows = page.db.all("SELECT name, value FROM product_spec WHERE product_id = ? ORDER BY position", product_id)
    return {row["name"]: row["value"] for row in rows}
