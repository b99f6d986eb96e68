"""A catalogue on disk: products, their full-text index and the goals, in one SQLite file that is only read."""

from __future__ import annotations

import json
import queue
import re
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

from agentenv.protocol import digest_of
from envservers.shop.webshop.products import Product

FILE = "shop.db"
HITS = 50
"""Products that a search finds at most."""
PER_PAGE = 10
"""Products on a page of results."""
WORDS = 40
"""Different words of a query that count."""
TOKENIZE = "porter unicode61"
TITLE_WEIGHT = 3.0
"""Of a word in the title; elsewhere it counts once."""
CONNECTIONS = 4
"""Searches at the same time; more wait."""
CACHE_KB = 1024
"""Pages of the file that a connection holds."""
SQLITE = sqlite3.sqlite_version
"""Ranks come from its bm25."""

_WORD = re.compile(r"[^\W_]+")
_FUNCTION_WORDS = """
a an and are as at be but by for i if in into is it me my no not of on or our so such than that the their then there
these they this to was we which will with would you your
"""
_STOP = frozenset(_FUNCTION_WORDS.split())
_SCHEMA = f"""
create table products (id integer primary key, asin text not null unique, row text not null);
create virtual table words using fts5(title, body, options, content='', tokenize='{TOKENIZE}');
create table goals (split text, number integer, row text not null, primary key (split, number)) without rowid;
create table facts (name text primary key, value text not null) without rowid;
"""
_RANKED = f"""
select rowid from words where words match ? order by round(bm25(words, {TITLE_WEIGHT}, 1.0, 1.0), 6), rowid limit ?
"""


def query_words(query: str) -> list[str]:
    """The words of a query that count: its first different ones, function words left out."""
    found = dict.fromkeys(word for word in _WORD.findall(query.lower()) if word not in _STOP)
    return list(found)[:WORDS]


def match_text(query: str) -> str:
    """A query as an FTS5 expression: any of its words; empty when it has none."""
    return " OR ".join(f'"{word}"' for word in query_words(query))


class Store:
    """Reads a catalogue; safe in many threads, which share a few connections."""

    def __init__(self, path: Path) -> None:
        self._uri = f"file:{quote(str(path.absolute()))}?mode=ro&immutable=1"
        self._idle: queue.LifoQueue[sqlite3.Connection | None] = queue.LifoQueue()
        for _ in range(CONNECTIONS):
            self._idle.put(None)  # opened when it is first needed

    def search(self, query: str, limit: int = HITS) -> list[int]:
        """Numbers of the best products, best first; ties by the number, which is the order of the product ids."""
        wanted = match_text(query)
        return [number for (number,) in self._rows(_RANKED, wanted, limit)] if wanted else []

    def product(self, number: int) -> Product:
        """The product of a number."""
        [(row,)] = self._rows("select row from products where id = ?", number)
        return Product.from_json(json.loads(row))

    def count(self, split: str) -> int:
        """Goals of a split."""
        [(found,)] = self._rows("select count(*) from goals where split = ?", split)
        return int(found)

    def goal(self, split: str, number: int) -> dict[str, Any]:
        """A goal as it was written."""
        [(row,)] = self._rows("select row from goals where split = ? and number = ?", split, number)
        return dict(json.loads(row))

    @property
    def digest(self) -> str:
        """Over all products and goals."""
        [(value,)] = self._rows("select value from facts where name = 'digest'")
        return str(value)

    def _rows(self, statement: str, *values: str | int) -> list[tuple[Any, ...]]:
        db = self._idle.get()
        try:
            if db is None:
                db = sqlite3.connect(self._uri, uri=True, check_same_thread=False)
                db.execute(f"pragma cache_size = -{CACHE_KB}")
            return db.execute(statement, values).fetchall()
        finally:
            self._idle.put(db)


def write_products(path: Path, products: Iterable[Product]) -> None:
    """A new catalogue, numbered in the order of the product ids, so that ties of a search are broken by the id."""
    with closing(sqlite3.connect(path)) as db:
        db.executescript(_SCHEMA)
        with db:
            db.execute("create temp table given (asin text, row text)")
            db.executemany("insert into given values (?, ?)", ((p.asin, _json(p.to_json())) for p in products))
            db.execute("insert into products select row_number() over (order by asin), asin, row from given")
            db.executemany("insert into words(rowid, title, body, options) values (?, ?, ?, ?)", _words(db))
            db.execute("insert into words(words) values ('optimize')")


def write_goals(path: Path, goals: Mapping[str, Iterable[Mapping[str, Any]]]) -> None:
    """Add the goals, and the digest of all that the catalogue holds."""
    with closing(sqlite3.connect(path)) as db, db:
        for split, some in goals.items():
            rows = ((split, number, _json(goal)) for number, goal in enumerate(some))
            db.executemany("insert into goals values (?, ?, ?)", rows)
        told = [row for (row,) in db.execute("select row from products order by id")]
        wished = list(db.execute("select split, number, row from goals order by split, number"))
        db.execute("insert into facts values ('digest', ?)", (digest_of([told, wished]),))


def _words(db: sqlite3.Connection) -> Iterator[tuple[int, str, str, str]]:
    for number, row in db.execute("select id, row from products order by id"):
        product = Product.from_json(json.loads(row))
        options = " ".join(value for values in product.options.values() for value in values)
        yield number, product.title, " ".join((*product.features, product.description)), options


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
