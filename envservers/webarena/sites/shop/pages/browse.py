"""Home page and lists of products: categories, brands, search, sale, new arrivals, best sellers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from envservers.webarena.site import SiteResponse
from envservers.webarena.sites.common.page import Page
from envservers.webarena.sites.common.paging import pages
from envservers.webarena.sites.shop import catalogue, listing
from envservers.webarena.sites.shop.catalogue import Item

ON_HOME = 5
BEST = 48
"""How many products the lists of best sellers and new arrivals hold."""


def home(page: Page) -> SiteResponse:
    """What is liked, new and on sale."""
    top = [row[0] for row in page.db.all(_POPULAR, ON_HOME)]
    new = [row[0] for row in page.db.all(_NEWEST, ON_HOME)]
    reduced = [row[0] for row in page.db.all(_REDUCED, ON_HOME)]
    return page.render(
        "home.html",
        popular=catalogue.items_by_id(page.db, page.today, top),
        newest=catalogue.items_by_id(page.db, page.today, new),
        reduced=catalogue.items_by_id(page.db, page.today, reduced),
        tops=catalogue.departments(page.db),
    )


def categories(page: Page) -> SiteResponse:
    """Departments and what is below them; the third level is on the pages of the second."""
    return page.render("categories.html", tree=catalogue.tree(page.db))


def category(page: Page) -> SiteResponse:
    """Products of a category and all below it."""
    tree = catalogue.tree(page.db)
    row = next((row for row in tree.rows.values() if row["slug"] == page.params["slug"]), None)
    if row is None:
        return page.not_found()
    found = catalogue.items_of_categories(page.db, page.today, tree.below(row["id"]))
    line = tree.line(row["id"])
    return _list(
        page,
        "category.html",
        found,
        category=row,
        children=[(f"/c/{child['slug']}", child["name"]) for child in tree.children.get(row["id"], ())],
        crumbs=[("/", "Home"), *((f"/c/{above['slug']}", above["name"]) for above in line[:-1])],
    )


def brands(page: Page) -> SiteResponse:
    """All of them."""
    return page.render("brands.html", brands=page.db.all(_BRANDS))


def brand(page: Page) -> SiteResponse:
    """Who they are and what they make."""
    row = page.db.one(
        "SELECT brand.*, town.name AS town FROM brand JOIN town ON town.id = town_id WHERE slug = ?",
        page.params["slug"],
    )
    if row is None:
        return page.not_found()
    found = catalogue.items(page.db, page.today, "brand_id = ?", row["id"])
    return _list(page, "brand.html", found, brand=row)


def search(page: Page) -> SiteResponse:
    """Products that hold the words of the query."""
    text = " ".join(page.asked("q").split())
    found = catalogue.items_by_id(page.db, page.today, catalogue.search(page.db, text))
    popular = (
        [] if found else page.db.all("SELECT term FROM search_term WHERE results > 0 ORDER BY uses DESC, id LIMIT 6")
    )
    return _list(page, "search.html", found, best="relevance", text=text, popular=popular)


def sale(page: Page) -> SiteResponse:
    """What costs less than its list price."""
    return _list(page, "sale.html", catalogue.reduced_items(page.db, page.today))


def new(page: Page) -> SiteResponse:
    """What came last."""
    ids = [row[0] for row in page.db.all(_NEWEST, BEST)]
    return _list(page, "new.html", catalogue.items_by_id(page.db, page.today, ids), best="newest")


def best_sellers(page: Page) -> SiteResponse:
    """What is bought most."""
    ids = [row[0] for row in page.db.all(_POPULAR, BEST)]
    return _list(page, "best_sellers.html", catalogue.items_by_id(page.db, page.today, ids))


def _list(page: Page, template: str, found: Sequence[Item], *, best: str = "popular", **values: Any) -> SiteResponse:
    asked = {name: page.asked(name) for name in ("price", "brand", "rating", "stock", "sort", "brands")}
    arranged = listing.arrange(found, asked, best=best)
    per = next((per for per in listing.PER_PAGE if str(per) == page.asked("per")), listing.PER_PAGE[0])
    cut = pages(len(arranged.items), page.asked("page"), per)
    orders = [(name, text) for name, (text, _) in listing.ORDERS.items()]
    if best == "relevance":
        orders.insert(0, ("relevance", "Relevance"))
    return page.render(
        template,
        listing=arranged,
        pages=cut,
        items=cut.cut(arranged.items),
        orders=orders,
        sizes=listing.PER_PAGE,
        found=len(found),
        **values,
    )


_SOLD = "status = 'enabled' AND stock > 0"
_POPULAR = f"SELECT id FROM product WHERE {_SOLD} ORDER BY popularity DESC, id LIMIT ?"
_NEWEST = f"SELECT id FROM product WHERE {_SOLD} ORDER BY created_at DESC, id DESC LIMIT ?"
_REDUCED = f"SELECT id FROM product WHERE {_SOLD} AND special_cents IS NOT NULL ORDER BY popularity DESC, id LIMIT ?"
_BRANDS = """
SELECT brand.*, count(product.id) AS number FROM brand
LEFT JOIN product ON brand_id = brand.id AND status = 'enabled' GROUP BY brand.id ORDER BY brand.name
"""
