"""Building a world once and keeping it: a SQLite file that is the same for equal (version, seed, size)."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from contextlib import closing
from importlib.resources import files
from pathlib import Path

from agentenv.config import home
from agentenv.keep import kept, sources_digest
from envservers.webarena.world.calendar import Calendar
from envservers.webarena.world.catalogue import add_brands, add_categories, add_price_rules, add_products
from envservers.webarena.world.customers import add_customers
from envservers.webarena.world.draw import Draw
from envservers.webarena.world.leavings import add_lists, add_reviews
from envservers.webarena.world.orders import add_orders
from envservers.webarena.world.places import add_places
from envservers.webarena.world.sizes import SIZES, STARTS_AT, VERSION, Size
from envservers.webarena.world.store import (
    add_coupons,
    add_messages,
    add_pages,
    add_rates,
    add_staff,
    add_subscribers,
    insert_search_terms,
    search_terms,
)
from envservers.webarena.world.tables import Tables
from envservers.webarena.world.voices import Voice

FILE = "shop.db"
_SOURCES = sources_digest(__package__, f"{__package__}.grammar")
"""Taken at import: a process that outlives a change of the files says what it really runs."""


def build_world(seed: int, size: str = "medium", *, worlds: Path | None = None) -> Path:
    """The world's database, built if it is not there yet. Safe to call from many processes at a time.

    worlds: the folder of all worlds, by default `worlds` in AGENTENV_HOME. Raises KeyError for an unknown size.
    """
    wanted = SIZES[size]
    folder = (worlds or home() / "worlds") / f"{VERSION}-{seed}-{size}"
    return kept(folder, _SOURCES, lambda work: write_world(work / FILE, seed, wanted)) / FILE


def content_digest(path: Path) -> str:
    """SHA-256 over every row of every ordinary table; nothing depends on SQLite's file format."""
    digest = hashlib.sha256()
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True)) as connection:
        for table in ordinary_tables(connection):
            digest.update(f"\n{table}\n".encode())
            for row in connection.execute(f"SELECT * FROM {table} ORDER BY id"):
                digest.update(json.dumps(row, ensure_ascii=False).encode())
    return digest.hexdigest()


def ordinary_tables(connection: sqlite3.Connection, schema: str = "main") -> list[str]:
    """Tables of the world's data by name: no search index, nothing of SQLite's own."""
    names = [
        row[0]
        for row in connection.execute(f"SELECT name FROM {schema}.sqlite_schema WHERE type = 'table' ORDER BY name")
    ]
    return [name for name in names if not name.startswith(("sqlite_", "product_search"))]


def write_world(path: Path, seed: int, size: Size) -> None:
    """A new database at `path`."""
    tables, terms = _tables(seed, size)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA page_size=4096")
        connection.execute("PRAGMA journal_mode=OFF")
        connection.execute("PRAGMA synchronous=OFF")
        connection.executescript(files(__package__).joinpath("schema.sql").read_text(encoding="utf-8"))
        connection.execute("BEGIN")
        tables.insert(connection)
        _fill_search(connection)
        insert_search_terms(connection, terms)
        connection.execute("COMMIT")
        connection.execute("PRAGMA optimize")
        connection.execute("VACUUM")


def _tables(seed: int, size: Size) -> tuple[Tables, list[str]]:
    def draw(part: str) -> Draw:
        return Draw(VERSION, seed, size.name, part)

    tables = Tables()
    tables.add("world", seed=seed, size=size.name, version=VERSION, starts_at=STARTS_AT)
    voice = Voice(draw("voice"), at_most=max(1, size.reviews // 100))
    calendar = Calendar(draw("calendar"))
    add_places(tables, draw("places"))
    add_staff(tables, draw("staff"))
    add_rates(tables)
    add_coupons(tables, draw("coupons"), size)
    add_pages(tables, draw("pages"))
    add_brands(tables, draw("brands"), size)
    leaves = add_categories(tables, size)
    kinds = add_products(tables, draw("products"), size, leaves, voice)
    add_price_rules(tables, draw("rules"))
    add_customers(tables, draw("customers"), size)
    history = add_orders(tables, draw("orders"), size, calendar, kinds, voice)
    add_reviews(tables, draw("reviews"), size, calendar, kinds, history, voice)
    add_lists(tables, draw("lists"), kinds)
    add_subscribers(tables, draw("subscribers"), size)
    add_messages(tables, draw("messages"), size, voice)
    return tables, search_terms(draw("terms"), size, leaves)


def _fill_search(connection: sqlite3.Connection) -> None:
    connection.execute(
        "INSERT INTO product_search (rowid, name, brand, category, description) "
        "SELECT product.id, product.name, brand.name, category.name, product.description FROM product "
        "JOIN brand ON brand.id = product.brand_id JOIN category ON category.id = product.category_id "
        "ORDER BY product.id"
    )
    connection.execute("INSERT INTO product_search (product_search) VALUES ('optimize')")
