"""What the shop sells: questions to the database about categories, products and reviews."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

from envservers.webarena.sites.shop.prices import Price, Rules, price_of
from envservers.webarena.state.database import Db, Row, Value

LONGEST_TERM = 60
"""Characters of a word that is searched for; no product has a longer one, and SQLite refuses very long patterns."""

_ITEMS = """
SELECT product.id, product.sku, product.name, product.slug, brand.name AS brand, brand.slug AS brand_slug, category_id,
       price_cents, special_cents, stock, picture, product.created_at, popularity,
       coalesce(rated.number, 0) AS reviews, coalesce(rated.mean, 0) AS stars,
       (SELECT color FROM variant WHERE product_id = product.id ORDER BY id LIMIT 1) AS color
FROM product JOIN brand ON brand.id = brand_id
LEFT JOIN (SELECT product_id, count(*) AS number, avg(stars) AS mean FROM review WHERE status = 'approved'
             AND product_id IN (SELECT id FROM product WHERE {where})
           GROUP BY product_id) AS rated ON rated.product_id = product.id
WHERE status = 'enabled' AND {where}
"""


class Item(NamedTuple):
    """A product as lists show it; a tuple, since lists make hundreds."""

    id: int
    sku: str
    name: str
    slug: str
    brand: str
    brand_slug: str
    category_id: int
    price: Price
    stock: int
    picture: str
    created_at: str
    popularity: float
    reviews: int
    """Approved ones."""
    stars: float
    """Their mean; 0 without any."""
    color: str
    """Of the first variant, which the picture shows."""
    varied: bool
    """Whether one chooses a color or a size."""

    @property
    def path(self) -> str:
        """Of its page."""
        return f"/p/{self.slug}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree:
    """The active categories. A category below an inactive one is not there."""

    rows: dict[int, Row]
    children: dict[int | None, list[Row]]

    def line(self, category_id: int) -> list[Row]:
        """From the department down to the category."""
        row: Row | None = self.rows.get(category_id)
        line: list[Row] = []
        while row is not None:
            line.insert(0, row)
            row = self.rows.get(row["parent_id"])
        return line

    def below(self, category_id: int) -> list[int]:
        """The category and all below it."""
        found = [category_id]
        for child in self.children.get(category_id, ()):
            found += self.below(child["id"])
        return found


def tree(db: Db) -> Tree:
    """All categories that the shop shows."""
    children: dict[int | None, list[Row]] = {}
    for row in db.all("SELECT * FROM category WHERE active ORDER BY position, id"):
        children.setdefault(row["parent_id"], []).append(row)
    rows: dict[int, Row] = {}
    waiting = list(children.get(None, ()))
    while waiting:
        row = waiting.pop()
        rows[row["id"]] = row
        waiting += children.get(row["id"], ())
    return Tree(rows=rows, children=children)


def departments(db: Db) -> list[Row]:
    """The top of the tree."""
    return db.all("SELECT * FROM category WHERE parent_id IS NULL AND active ORDER BY position, id")


def items(db: Db, today: str, where: str, *values: Value) -> list[Item]:
    """Products on sale for which `where` holds, an expression over columns of `product`."""
    rules = Rules(db, today)
    return [
        Item(*row[:7], price_of(row[7], row[8], rules.percent(row[6])), *row[9:15], row[15] or "", row[15] is not None)  # type: ignore[call-arg]
        for row in db.all(_ITEMS.format(where=f"({where})"), *values, *values)
    ]


def items_by_id(db: Db, today: str, ids: list[int]) -> list[Item]:
    """Products on sale, in this order; those that are gone are left out."""
    found = {item.id: item for item in items(db, today, f"product.id IN ({_marks(ids)})", *ids)}
    return [found[number] for number in ids if number in found]


def items_of_categories(db: Db, today: str, ids: list[int]) -> list[Item]:
    """Products on sale in these categories."""
    return items(db, today, f"category_id IN ({_marks(ids)})", *ids)


def reduced_items(db: Db, today: str) -> list[Item]:
    """Products that cost less than their list price."""
    rules = Rules(db, today)
    ruled = [row[0] for row in db.all("SELECT id FROM category") if rules.percent(row[0])]
    found = items(db, today, f"special_cents < price_cents OR category_id IN ({_marks(ruled)})", *ruled)
    return [item for item in found if item.price.unit < item.price.list]


def _marks(values: list[int]) -> str:
    return ",".join("?" * len(values))


def search(db: Db, text: str) -> list[int]:
    """Ids of products that hold every word, best first; else words that begin so, else parts of words."""
    terms = [term[:LONGEST_TERM] for term in re.findall(r"\w+", text.lower())[:8]]
    if not terms:
        return []
    for query in (" ".join(f'"{term}"' for term in terms), " ".join(f'"{term}"*' for term in terms)):
        found = db.all(
            "SELECT rowid FROM product_search WHERE product_search MATCH ?"
            " ORDER BY bm25(product_search, 8, 4, 3, 1), rowid",
            query,
        )
        if found:
            return [row[0] for row in found]
    like = [f"%{term}%" for term in terms]
    clauses = " AND ".join("(product.name LIKE ? OR sku LIKE ? OR brand.name LIKE ?)" for _ in like)
    rows = db.all(
        f"SELECT product.id FROM product JOIN brand ON brand.id = brand_id WHERE {clauses} ORDER BY product.id",
        *(part for part in like for _ in range(3)),
    )
    return [row[0] for row in rows]


def product(db: Db, slug: str) -> Row | None:
    """A product that can be bought, with the name and slug of its brand."""
    return db.one(
        "SELECT product.*, brand.name AS brand, brand.slug AS brand_slug"
        " FROM product JOIN brand ON brand.id = brand_id WHERE product.slug = ? AND status = 'enabled'",
        slug,
    )


def product_by_id(db: Db, product_id: int) -> Row | None:
    """A product that can be bought."""
    return db.one("SELECT * FROM product WHERE id = ? AND status = 'enabled'", product_id)


def price_today(db: Db, row: Row, today: str) -> Price:
    """Of one product's row."""
    return price_of(row["price_cents"], row["special_cents"], Rules(db, today).percent(row["category_id"]))


def variants(db: Db, product_id: int) -> list[Row]:
    """Colors and sizes that it comes in."""
    return db.all("SELECT * FROM variant WHERE product_id = ? ORDER BY id", product_id)


def star_counts(db: Db, product_id: int) -> dict[int, int]:
    """How many approved reviews gave 5, 4, 3, 2 and 1 star."""
    counts = dict.fromkeys((5, 4, 3, 2, 1), 0)
    for stars, number in db.all(
        "SELECT stars, count(*) FROM review WHERE product_id = ? AND status = 'approved' GROUP BY stars", product_id
    ):
        counts[stars] = number
    return counts


REVIEW_ORDERS = {
    "newest": ("Newest first", "created_at DESC, id DESC"),
    "oldest": ("Oldest first", "created_at, id"),
    "highest": ("Highest rating", "stars DESC, created_at DESC, id DESC"),
    "lowest": ("Lowest rating", "stars, created_at DESC, id DESC"),
}


def reviews(db: Db, product_id: int, *, stars: int, order: str, limit: int, skip: int) -> list[Row]:
    """Approved reviews; of one number of stars, or with 0 of any."""
    return db.all(
        "SELECT * FROM review WHERE product_id = ? AND status = 'approved' AND (? = 0 OR stars = ?)"
        f" ORDER BY {REVIEW_ORDERS[order][1]} LIMIT ? OFFSET ?",
        *(product_id, stars, stars, limit, skip),
    )
