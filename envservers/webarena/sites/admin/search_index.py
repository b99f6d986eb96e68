"""The shop's search knows what the catalogue says now."""

from __future__ import annotations

from envservers.webarena.state.database import Db


def renew_product(db: Db, product_id: int) -> None:
    """After a product was made or changed."""
    db.write(f"{_RENEW} WHERE product.id = ?", product_id)


def renew_category(db: Db, category_id: int) -> None:
    """After a category got another name."""
    db.write(f"{_RENEW} WHERE category.id = ?", category_id)


_RENEW = """
INSERT OR REPLACE INTO product_search (rowid, name, brand, category, description)
SELECT product.id, product.name, brand.name, category.name, product.description
FROM product JOIN brand ON brand.id = brand_id JOIN category ON category.id = category_id
"""
