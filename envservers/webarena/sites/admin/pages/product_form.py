"""The fields of a product, new or known."""

from __future__ import annotations

from typing import Any

from envservers.webarena.sites.common.formats import plain_money
from envservers.webarena.sites.common.forms import Form
from envservers.webarena.state.database import Db, Row, Value

COLUMNS = (
    "name",
    "sku",
    "brand_id",
    "category_id",
    "price_cents",
    "special_cents",
    "stock",
    "status",
    "weight_g",
    "description",
)
"""Of the table `product`, as the form writes them."""
EMPTY = {
    "name": "",
    "sku": "",
    "brand": "",
    "category": "",
    "price": "",
    "special": "",
    "stock": "",
    "status": "enabled",
    "weight": "",
    "description": "",
}


def start_of(row: Row) -> dict[str, str]:
    """What the fields hold at first."""
    special = row["special_cents"]
    return {
        "name": row["name"],
        "sku": row["sku"],
        "brand": str(row["brand_id"]),
        "category": str(row["category_id"]),
        "price": plain_money(row["price_cents"]),
        "special": "" if special is None else plain_money(special),
        "stock": str(row["stock"]),
        "status": row["status"],
        "weight": str(row["weight_g"]),
        "description": row["description"],
    }


def choices(db: Db) -> dict[str, Any]:
    """Brands and categories to choose from."""
    return {"brands": brands(db), "categories": leaf_categories(db)}


def brands(db: Db) -> list[tuple[str, str]]:
    """Id and name."""
    return [(str(row["id"]), row["name"]) for row in db.all("SELECT id, name FROM brand ORDER BY name, id")]


def leaf_categories(db: Db) -> list[tuple[str, str]]:
    """Id and path of the categories that hold products: those of the third level."""
    rows = db.all(
        "SELECT leaf.id, top.name || ' / ' || middle.name || ' / ' || leaf.name AS path FROM category AS leaf"
        " JOIN category AS middle ON middle.id = leaf.parent_id JOIN category AS top ON top.id = middle.parent_id"
        " ORDER BY top.position, middle.position, leaf.position, leaf.id"
    )
    return [(str(row["id"]), row["path"]) for row in rows]


def read(form: Form, db: Db, *, product_id: int, varied: bool) -> dict[str, Value]:
    """The columns in a form. `varied`: the stock is that of the variants and has no field."""
    values: dict[str, Value] = {
        "name": form.text("name", "Product name", limit=200),
        "sku": form.text("sku", "SKU", limit=40),
        "price_cents": form.cents("price", "Price"),
        "special_cents": form.cents("special", "Special price", needed=False),
        "stock": 0 if varied else form.number("stock", "Stock quantity", high=99_999),
        "weight_g": form.number("weight", "Weight in grams", low=1, high=999_999),
        "status": form.choice("status", "Status", ("enabled", "disabled")),
        "brand_id": _id(form.choice("brand", "Brand", dict(brands(db)))),
        "category_id": _id(form.choice("category", "Category", dict(leaf_categories(db)))),
        "description": form.text("description", "Description", limit=4000, lines=True),
    }
    if values["price_cents"] == 0:
        form.errors["price"] = "Price: please enter an amount above 0."
    special, price = values["special_cents"], values["price_cents"]
    if isinstance(special, int) and isinstance(price, int) and special >= price:
        form.errors["special"] = "Special price: please enter an amount below the price, or nothing."
    if "sku" not in form.errors and db.one(
        "SELECT 1 FROM product WHERE sku = ? AND id <> ? UNION SELECT 1 FROM variant WHERE sku = ?",
        *(values["sku"], product_id, values["sku"]),
    ):
        form.errors["sku"] = "SKU: another product has this SKU."
    return values


def _id(text: str) -> int:
    return int(text) if text else 0
