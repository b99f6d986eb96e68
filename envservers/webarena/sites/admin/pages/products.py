"""The list of products, one status for many, and new products."""

from __future__ import annotations

import json
import re
from typing import Any

from envservers.webarena.site import SiteResponse
from envservers.webarena.sites.admin import search_index
from envservers.webarena.sites.admin.grid import Column, Filters, grid, picked
from envservers.webarena.sites.admin.pages.product_form import COLUMNS as FIELDS
from envservers.webarena.sites.admin.pages.product_form import EMPTY, choices, read
from envservers.webarena.sites.common.formats import count
from envservers.webarena.sites.common.forms import Form
from envservers.webarena.sites.common.page import Page
from envservers.webarena.state.database import Db

STATUSES = (("enabled", "Enabled"), ("disabled", "Disabled"))
COLUMNS = (
    Column("id", "ID", "product.id", number=True),
    Column("name", "Name", "product.name"),
    Column("sku", "SKU", "sku"),
    Column("brand", "Brand", "brand.name"),
    Column("price", "Price", "price_cents", number=True),
    Column("special", "Special price", "special_cents", number=True),
    Column("stock", "Stock", "stock", number=True),
    Column("status", "Status", "product.status"),
)
_PLAIN_PICTURE = json.dumps({"silhouette": "box", "palette": 0, "angle": 0})
_LIST: dict[str, Any] = {
    "select": "product.*, brand.name AS brand",
    "source": "product LEFT JOIN brand ON brand.id = brand_id LEFT JOIN category ON category.id = category_id",
    "first": "id",
    "key": "product.id",
}


def show(page: Page) -> SiteResponse:
    """A page of them."""
    filters = Filters(page)
    filters.contains("name", "Product name", "product.name")
    filters.contains("sku", "SKU", "sku")
    filters.contains("brand", "Brand", "brand.name")
    filters.contains("category", "Category", "category.name")
    filters.choice("status", "Status", [code for code, _ in STATUSES], "product.status")
    filters.amounts("Price", "price_cents", "price_from", "price_to")
    filters.numbers("Stock", "stock", "stock_from", "stock_to")
    found = grid(page, COLUMNS, filters, **_LIST)
    return page.render("products.html", grid=found, filters=filters, statuses=list(STATUSES))


def change_many(page: Page) -> SiteResponse:
    """One status for all that were picked."""
    chosen, status = picked(page), page.sent("do")
    back = page.came_from("/products")
    if not chosen or status not in dict(STATUSES):
        page.flash("Please choose an action." if chosen else "Please select at least one product.", "error")
        return page.go(back)
    marks = ",".join("?" * len(chosen))
    number = page.db.value(f"SELECT count(*) FROM product WHERE id IN ({marks})", *chosen)
    page.db.write(f"UPDATE product SET status = ? WHERE id IN ({marks})", status, *chosen)
    page.flash(f"{count(number, 'product was', 'products were')} {status}.")
    return page.go(back)


def new(page: Page) -> SiteResponse:
    """An empty form."""
    return page.render("product_new.html", start=EMPTY, draft=page.draft(), varied=False, **choices(page.db))


def create(page: Page) -> SiteResponse:
    """A new product; its picture is that of its category."""
    form = Form(page.request.form)
    typed = read(form, page.db, product_id=0, varied=False)
    if form.errors:
        return page.refuse(form, "/products/new")
    product_id = page.db.write(
        f"INSERT INTO product ({', '.join(FIELDS)}, slug, created_at, popularity, picture)"
        f" VALUES ({', '.join('?' * len(FIELDS))}, ?, ?, 0, ?)",
        *(typed[name] for name in FIELDS),
        *(_free_slug(page.db, str(typed["name"])), page.now.time, _picture(page.db, int(typed["category_id"] or 0))),
    )
    search_index.renew_product(page.db, product_id)
    page.flash("You saved the product.")
    return page.go(f"/products/{product_id}")


def _picture(db: Db, category_id: int) -> str:
    found = db.value("SELECT picture FROM product WHERE category_id = ? ORDER BY id LIMIT 1", category_id)
    return str(found) if found else _PLAIN_PICTURE


def _free_slug(db: Db, name: str) -> str:
    """A word for the shop's address that no other product has."""
    base = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:80].strip("-") or "product"
    found, number = base, 2
    while db.one("SELECT 1 FROM product WHERE slug = ?", found):
        found, number = f"{base}-{number}", number + 1
    return found
