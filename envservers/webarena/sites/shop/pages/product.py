"""The page of a product, its reviews, and writing one."""

from __future__ import annotations

from typing import Any

from envservers.webarena.site import SiteResponse
from envservers.webarena.sites.common.forms import Form
from envservers.webarena.sites.common.page import Page
from envservers.webarena.sites.common.paging import pages
from envservers.webarena.sites.shop import catalogue
from envservers.webarena.state.database import Row

REVIEWS_PER_PAGE = 10
RELATED = 5
STARS = [("5", "5 stars"), ("4", "4 stars"), ("3", "3 stars"), ("2", "2 stars"), ("1", "1 star")]


def description(page: Page) -> SiteResponse:
    """The product with its first tab."""
    return _show(page, "product_description.html")


def specs(page: Page) -> SiteResponse:
    """The product with its specifications."""
    return _show(page, "product_specs.html")


def reviews(page: Page) -> SiteResponse:
    """The product with what customers wrote."""
    return _show(page, "product_reviews.html")


def review_form(page: Page) -> SiteResponse:
    """Where a review is written."""
    row = catalogue.product(page.db, str(page.params["slug"]))
    if row is None:
        return page.not_found()
    return page.render("review_form.html", product=row, draft=page.draft(), choices=STARS)


def send_review(page: Page) -> SiteResponse:
    """Keep a review; the store's people look at it before it shows."""
    row = catalogue.product(page.db, str(page.params["slug"]))
    if row is None:
        return page.not_found()
    form = Form(page.request.form)
    stars = form.choice("stars", "Your rating", [value for value, _ in STARS])
    nickname = form.text("nickname", "Nickname", limit=40)
    title = form.text("title", "Summary", limit=120)
    body = form.text("body", "Review", limit=2000, lines=True)
    if form.errors:
        return page.refuse(form, page.path)
    page.db.write(
        "INSERT INTO review (product_id, customer_id, nickname, title, body, stars, status, created_at)"
        " VALUES (?, ?, ?, ?, ?, ?, 'pending', ?)",
        *(row["id"], page.customer["id"] if page.customer else None, nickname, title, body, int(stars), page.now.time),
    )
    page.flash("Thank you. Your review was sent and will show once our team has read it.")
    return page.go(f"/p/{row['slug']}/reviews")


def _show(page: Page, template: str) -> SiteResponse:
    row = catalogue.product(page.db, str(page.params["slug"]))
    if row is None:
        return page.not_found()
    counts = catalogue.star_counts(page.db, row["id"])
    number = sum(counts.values())
    tree = catalogue.tree(page.db)
    path = f"/p/{row['slug']}"
    values: dict[str, Any] = {
        "product": row,
        "path": path,
        "price": catalogue.price_today(page.db, row, page.today),
        "crumbs": [
            ("/", "Home"),
            *((f"/c/{above['slug']}", above["name"]) for above in tree.line(row["category_id"])),
        ],
        "choice": _choice(catalogue.variants(page.db, row["id"])),
        "counts": counts,
        "number": number,
        "average": sum(stars * count for stars, count in counts.items()) / number if number else 0.0,
        "draft": page.draft("buy"),
        "tabs": [
            (path, "Details", page.path == path),
            (f"{path}/specs", "Specifications", page.path == f"{path}/specs"),
            (f"{path}/reviews", f"Reviews ({number})", page.path == f"{path}/reviews"),
        ],
    }
    return page.render(template, **values, **_TABS[template](page, row, counts))


def _choice(found: list[Row]) -> dict[str, Any]:
    """Colors and sizes to choose from, and the combinations that are sold out."""
    colors = list(dict.fromkeys(row["color"] for row in found if row["color"]))
    sizes = list(dict.fromkeys(row["size"] for row in found if row["size"]))
    left = {name: sum(row["stock"] for row in found if name in (row["color"], row["size"])) for name in colors + sizes}
    gone = [" / ".join(filter(None, (row["color"], row["size"]))) for row in found if row["stock"] <= 0]
    return {"colors": colors, "sizes": sizes, "left": left, "gone": gone if colors and sizes else []}


def _description_tab(page: Page, row: Row, counts: dict[int, int]) -> dict[str, Any]:
    same = page.db.all(
        "SELECT id FROM product WHERE category_id = ? AND id <> ? AND status = 'enabled'"
        " ORDER BY popularity DESC, id LIMIT ?",
        *(row["category_id"], row["id"], RELATED),
    )
    related = catalogue.items_by_id(page.db, page.today, [other["id"] for other in same])
    features = page.db.all("SELECT text FROM product_feature WHERE product_id = ? ORDER BY position", row["id"])
    return {"features": features, "related": related}


def _specs_tab(page: Page, row: Row, counts: dict[int, int]) -> dict[str, Any]:
    found = page.db.all("SELECT name, value FROM product_spec WHERE product_id = ? ORDER BY position", row["id"])
    own = [("SKU", row["sku"]), ("Brand", row["brand"]), ("Weight", _weight(row["weight_g"]))]
    return {"specs": own + [(spec["name"], spec["value"]) for spec in found]}


def _reviews_tab(page: Page, row: Row, counts: dict[int, int]) -> dict[str, Any]:
    stars = int(page.asked("stars")) if page.asked("stars") in dict(STARS) else 0
    order = page.asked("sort") if page.asked("sort") in catalogue.REVIEW_ORDERS else "newest"
    cut = pages(counts[stars] if stars else sum(counts.values()), page.asked("page"), REVIEWS_PER_PAGE)
    return {
        "stars": stars,
        "order": order,
        "orders": [(name, text) for name, (text, _) in catalogue.REVIEW_ORDERS.items()],
        "pages": cut,
        "reviews": catalogue.reviews(
            page.db, row["id"], stars=stars, order=order, limit=REVIEWS_PER_PAGE, skip=cut.skipped
        ),
    }


def _weight(grams: int) -> str:
    return f"{grams} g" if grams < 1000 else f"{grams / 1000:.2f} kg"


_TABS = {
    "product_description.html": _description_tab,
    "product_specs.html": _specs_tab,
    "product_reviews.html": _reviews_tab,
}
