"""What customers leave behind: reviews, wish lists, comparisons, carts."""

from __future__ import annotations

import datetime as dt

from envservers.webarena.world.calendar import START, Calendar, later, text
from envservers.webarena.world.catalogue import Kind
from envservers.webarena.world.draw import Draw, Weighted
from envservers.webarena.world.grammar.load import words
from envservers.webarena.world.orders import History
from envservers.webarena.world.sizes import Size
from envservers.webarena.world.tables import Row, Tables
from envservers.webarena.world.voices import TYPOS, Voice, with_typo

_MAIN_REVIEWS = 9


def add_reviews(
    tables: Tables,
    draw: Draw,
    size: Size,
    calendar: Calendar,
    kinds: dict[int, Kind],
    history: History,
    voice: Voice,
) -> None:
    """Three in four by people who bought the thing, once each; all in order of time."""
    planned = _by_buyers(tables, draw, size.reviews * 3 // 4, history)
    products, weighted = tables["product"], Weighted([row["popularity"] for row in tables["product"]])
    while len(planned) < size.reviews:
        product = products[weighted.draw(draw)]
        moment = calendar.moment(draw)
        if kinds[product["id"]].created < moment:
            planned.append((moment, product["id"], None))
    planned.sort(key=lambda plan: (plan[0], plan[1]))
    brands = {row["id"]: row["name"] for row in tables["brand"]}
    for moment, product_id, customer in planned:
        kind = kinds[product_id]
        stars = _stars(draw, kind.quality)
        brand = brands[tables.row("product", product_id)["brand_id"]]
        title, body = voice.review(kind, brand, stars)
        tables.add(
            "review",
            product_id=product_id,
            customer_id=customer["id"] if customer else None,
            nickname=_nickname(draw, customer),
            title=title,
            body=with_typo(draw, body) if draw.chance(TYPOS) else body,
            stars=stars,
            status=_status(draw, moment),
            created_at=text(moment),
        )
    newest = next(row for row in reversed(tables["review"]) if row["customer_id"] == 1)
    newest["status"] = "pending"


def _by_buyers(tables: Tables, draw: Draw, count: int, history: History) -> list[tuple[dt.datetime, int, Row | None]]:
    pairs: dict[tuple[int, int], dt.datetime] = {}
    for order_id, shipped in history.shipped.items():
        customer_id = tables.row("sales_order", order_id)["customer_id"]
        if customer_id is not None and START - shipped > dt.timedelta(days=3):
            for line in history.lines[order_id]:
                pairs.setdefault((customer_id, line["product_id"]), shipped)
    everything = draw.shuffled(list(pairs.items()))
    main = [pair for pair in everything if pair[0][0] == 1][:_MAIN_REVIEWS]
    others = [pair for pair in everything if pair[0][0] != 1][: count - len(main)]
    return [
        (later(draw, shipped, 60, 900), product_id, tables.row("customer", customer_id))
        for (customer_id, product_id), shipped in main + others
    ]


def _stars(draw: Draw, quality: float) -> int:
    """People who write are pleased or angry more often than lukewarm."""
    if draw.chance(0.09):
        return draw.pick((1, 1, 2, 5))
    return min(5, max(1, round(draw.bell(quality + 0.25, 0.85))))


def _status(draw: Draw, moment: dt.datetime) -> str:
    if START - moment < dt.timedelta(days=12):
        return "pending" if draw.chance(0.6) else "approved"
    place = draw.random()
    return "rejected" if place < 0.025 else "pending" if place < 0.032 else "approved"


def _nickname(draw: Draw, customer: Row | None) -> str:
    names = words("names")
    first = customer["first_name"] if customer else draw.pick(names["first"])
    last = customer["last_name"] if customer else draw.pick(names["last"])
    forms = (f"{first} {last[0]}.", f"{first} {last[0]}.", first, f"{first.lower()}_{last[:3].lower()}")
    return forms[(customer["id"] - 1) % 4] if customer else draw.pick(forms)


def add_lists(tables: Tables, draw: Draw, kinds: dict[int, Kind]) -> None:
    """Wish lists, comparisons and carts; those of customer 1 are never empty."""
    products, weighted = tables["product"], Weighted([row["popularity"] for row in tables["product"]])
    for customer in tables["customer"]:
        main = customer["id"] == 1
        for product in _different(draw, products, weighted, 9 if main else _length(draw, 0.35, 12)):
            moment = later(draw, START - dt.timedelta(days=draw.between(1, 300)), 0, 20)
            tables.add("wish", customer_id=customer["id"], product_id=product["id"], added_at=text(moment))
        if main or draw.chance(0.08):
            leaf = draw.pick(products)["category_id"]
            alike = [row for row in products if row["category_id"] == leaf and row["status"] == "enabled"]
            for product in draw.some(alike, draw.between(2, 3)):
                tables.add("comparison", customer_id=customer["id"], product_id=product["id"])
        count = 3 if main else _length(draw, 0.2, 5)
        if count:
            cart = tables.add("cart", customer_id=customer["id"], coupon_code="", gift_note="")
            for product in _different(draw, products, weighted, count):
                _put(tables, draw, cart, product, kinds[product["id"]], main=main)


def _put(tables: Tables, draw: Draw, cart: Row, product: Row, kind: Kind, *, main: bool) -> None:
    there = [variant for variant in kind.variants if variant["stock"] > 2]
    if product["status"] != "enabled" or product["stock"] < 3 or (kind.variants and not there):
        if not main:
            return
        product["status"], product["stock"] = "enabled", max(8, product["stock"])
        if kind.variants and not there:
            kind.variants[0]["stock"] = 8
            product["stock"] = sum(variant["stock"] for variant in kind.variants)
            there = kind.variants[:1]
    variant = draw.pick(there) if there else None
    tables.add(
        "cart_line",
        cart_id=cart["id"],
        product_id=product["id"],
        variant_id=variant["id"] if variant else None,
        quantity=draw.pick((1, 1, 2)),
    )


def _length(draw: Draw, share: float, most: int) -> int:
    return draw.between(1, most) if draw.chance(share) else 0


def _different(draw: Draw, products: list[Row], weighted: Weighted, count: int) -> list[Row]:
    found: dict[int, Row] = {}
    while len(found) < count:
        product = products[weighted.draw(draw)]
        if product["status"] == "enabled":
            found.setdefault(product["id"], product)
    return list(found.values())
