"""Two years of orders with their lines, coupons and documents; every sum is right to the cent."""

from __future__ import annotations

import bisect
import datetime as dt
from dataclasses import dataclass, field

from envservers.webarena.world.calendar import START, Calendar, later, text
from envservers.webarena.world.catalogue import Kind
from envservers.webarena.world.customers import addresses_of
from envservers.webarena.world.draw import Draw, Weighted, split_evenly, zipf
from envservers.webarena.world.grammar.load import words
from envservers.webarena.world.places import phone, place_fields, street
from envservers.webarena.world.sizes import Size
from envservers.webarena.world.tables import Row, Tables
from envservers.webarena.world.totals import order_totals, percent_of
from envservers.webarena.world.vocabulary import CARRIERS, PAYMENTS, REFUND_REASONS, RETURN_REASONS
from envservers.webarena.world.voices import Voice

_LINES = (1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 5, 6, 7, 9, 12)
_QUANTITIES = (1,) * 15 + (2, 2, 2, 3, 4)
_FRESH = dt.timedelta(days=9)
"""A busy last week, so that there are orders in every state of work."""
_SPECIALS_SINCE = dt.timedelta(days=10)
_MAIN_AGES_H = {"pending": 4, "processing": 30, "shipped": 96, "on_hold": 200}
"""Customer 1 has an order in each of these states, at least that old."""
_BY_AGE: tuple[tuple[float, dict[str, float]], ...] = (
    (24, {"pending": 68, "processing": 27, "canceled": 5}),
    (96, {"pending": 24, "processing": 40, "shipped": 28, "on_hold": 4, "canceled": 4}),
    (240, {"pending": 4, "processing": 14, "shipped": 46, "complete": 28, "on_hold": 3, "canceled": 4, "closed": 1}),
    (1e9, {"pending": 0.3, "shipped": 1.2, "complete": 86, "on_hold": 0.8, "canceled": 7.2, "closed": 4.5}),
)
_RETURN_WORDS = dict(
    zip(
        RETURN_REASONS,
        ("return_damaged", "return_faulty", "return_wrong", "return_size", "return_described", "return_mind"),
        strict=True,
    )
)
INVOICED = ("processing", "shipped", "complete", "closed")
_ORDER_ROLES = (1, 2)
SHIPPED = ("shipped", "complete", "closed")


@dataclass(slots=True, kw_only=True)
class History:
    """What later parts need of the orders."""

    moments: dict[int, dt.datetime] = field(default_factory=dict)
    """By order id."""
    lines: dict[int, list[Row]] = field(default_factory=dict)
    """By order id."""
    shipped: dict[int, dt.datetime] = field(default_factory=dict)
    """By order id."""


def add_orders(
    tables: Tables, draw: Draw, size: Size, calendar: Calendar, kinds: dict[int, Kind], voice: Voice
) -> History:
    """Orders by time; numbers and ids rise with it."""
    history = History()
    fresh = [START - _FRESH * draw.random() ** 2 for _ in range(max(10, size.orders // 60))]
    moments = sorted(
        [calendar.moment(draw) for _ in range(size.orders - len(fresh))]
        + [moment.replace(microsecond=0) - dt.timedelta(minutes=20) for moment in fresh]
    )
    counts = split_evenly(draw, size.order_lines, [draw.pick(_LINES) for _ in moments])
    main = _main_orders(draw, moments, size)
    shoppers = _Shoppers(tables, draw)
    goods = _Goods(tables, kinds, draw)
    addresses = addresses_of(tables)
    pace = (size.orders / 3500) ** 0.5  # a small shop is slower, so that it has open orders, too
    for place, moment in enumerate(moments):
        customer = tables.row("customer", 1) if place in main else shoppers.at(draw, moment)
        status = main.get(place) or _status(draw, moment, pace)
        lines = goods.lines(draw, customer, moment, counts[place])
        known = addresses.get(customer["id"], []) if customer else []
        order = _order(tables, draw, customer, moment, status, lines, known, voice)
        history.moments[order["id"]] = moment
        history.lines[order["id"]] = [tables.add("order_line", order_id=order["id"], **line) for line in lines]
    _add_documents(tables, draw, history, voice)
    return history


def _main_orders(draw: Draw, moments: list[dt.datetime], size: Size) -> dict[int, str]:
    """Places of customer 1's orders with the status that is wanted there ("" leaves it open)."""
    wanted: dict[int, str] = {}
    for status, age_h in _MAIN_AGES_H.items():
        place = bisect.bisect_left(moments, START - dt.timedelta(hours=age_h)) - 1
        while place in wanted:
            place -= 1
        wanted[place] = status
    settled = bisect.bisect_left(moments, START - dt.timedelta(days=21))
    old = [place for place in draw.some(range(settled), size.main_orders) if place not in wanted]
    for number, place in enumerate(old[: size.main_orders - len(wanted)]):
        wanted[place] = ("canceled", "closed", "complete", "complete")[number] if number < 4 else ""
    return wanted


def _status(draw: Draw, moment: dt.datetime, pace: float) -> str:
    age_h = (START - moment).total_seconds() / 3600 * pace
    shares = next(shares for limit, shares in _BY_AGE if age_h < limit)
    return list(shares)[Weighted(list(shares.values())).draw(draw)]


class _Shoppers:
    """Who orders: a few customers often, many once, some never; about one order in sixteen is a guest's."""

    def __init__(self, tables: Tables, draw: Draw) -> None:
        self._tables = tables
        others = tables["customer"][1:]
        weights = draw.shuffled(zipf(len(others), exponent=0.8, head=4))
        weights = [0.0 if draw.chance(0.12) else weight for weight in weights]
        self._customers = others
        self._weighted = Weighted(weights)

    def at(self, draw: Draw, moment: dt.datetime) -> Row | None:
        if draw.chance(0.06):
            return None
        for _ in range(20):
            customer = self._customers[self._weighted.draw(draw)]
            if customer["created_at"] <= text(moment) and (customer["active"] or draw.chance(0.3)):
                return customer
        return None


class _Goods:
    """What they order: by popularity, more from the two departments that a customer likes."""

    def __init__(self, tables: Tables, kinds: dict[int, Kind], draw: Draw) -> None:
        self._kinds = kinds
        self._tables = tables
        self._all = (tables["product"], Weighted([row["popularity"] for row in tables["product"]]))
        names = sorted({kind.department for kind in kinds.values()})
        self._by_department = {}
        for name in names:
            rows = [row for row in tables["product"] if kinds[row["id"]].department == name]
            self._by_department[name] = (rows, Weighted([row["popularity"] for row in rows]))
        self._rules: dict[int, list[Row]] = {}
        for rule in tables["price_rule"]:
            self._rules.setdefault(rule["category_id"], []).append(rule)
        self._likes = {row["id"]: draw.some(names, 2) for row in tables["customer"]}

    def lines(self, draw: Draw, customer: Row | None, moment: dt.datetime, count: int) -> list[Row]:
        lines: list[Row] = []
        taken: set[int] = set()
        likes = self._likes[customer["id"]] if customer else ()
        bulk = customer is not None and customer["group_id"] == 2
        while len(lines) < count:
            product = self._product(draw, likes, moment, taken)
            taken.add(product["id"])
            kind = self._kinds[product["id"]]
            variant = draw.pick(kind.variants) if kind.variants else None
            lines.append(
                {
                    "product_id": product["id"],
                    "variant_id": variant["id"] if variant else None,
                    "sku": variant["sku"] if variant else product["sku"],
                    "name": product["name"],
                    "options": options_text(variant) if variant else "",
                    "quantity": draw.pick(_QUANTITIES) * (draw.between(2, 4) if bulk and draw.chance(0.5) else 1),
                    "price_cents": self._paid(product, kind, moment),
                }
            )
        return lines

    def _product(self, draw: Draw, likes: list[str] | tuple[()], moment: dt.datetime, taken: set[int]) -> Row:
        attempts = 0
        while True:
            attempts += 1
            liked = likes and draw.chance(0.55)
            rows, weighted = self._by_department[draw.pick(likes)] if liked else self._all
            # The oldest products are older than the history, so there is always something to find.
            product = rows[weighted.draw(draw)] if attempts < 60 else rows[draw.below(len(rows))]
            if product["id"] not in taken and self._kinds[product["id"]].created < moment:
                return product

    def _paid(self, product: Row, kind: Kind, moment: dt.datetime) -> int:
        """As the shop computes it: the least of the price, the special and the price under a rule in force."""
        price = kind.price_at(product["price_cents"], moment)
        day = moment.date().isoformat()
        percents = [
            rule["percent"]
            for rule in self._rules.get(product["category_id"], ())
            if rule["active"] and rule["starts_on"] <= day <= rule["ends_on"]
        ]
        asked = price - percent_of(price, max(percents, default=0))
        if product["special_cents"] and START - moment < _SPECIALS_SINCE:
            asked = min(asked, product["special_cents"])
        return asked


def options_text(variant: Row) -> str:
    """As order lines have it: `Color: Blue, Size: M`."""
    pairs = (("Color", variant["color"]), ("Size", variant["size"]))
    return ", ".join(f"{name}: {value}" for name, value in pairs if value)


def _order(
    tables: Tables,
    draw: Draw,
    customer: Row | None,
    moment: dt.datetime,
    status: str,
    lines: list[Row],
    known: list[Row],
    voice: Voice,
) -> Row:
    subtotal = sum(line["quantity"] * line["price_cents"] for line in lines)
    percent = tables.row("customer_group", customer["group_id"])["discount_percent"] if customer else 0
    coupon = _coupon(tables, draw, moment, subtotal) if percent == 0 and draw.chance(0.16) else None
    rates = [row for row in tables["shipping_rate"] if row["active"]]
    rate = draw.pick(rates[:1] * 5 + rates)
    totals = order_totals(
        subtotal,
        group_percent=percent,
        coupon=(coupon["kind"], coupon["amount"]) if coupon else None,
        rate=(rate["price_cents"], rate["free_over_cents"]),
    )
    if coupon:
        coupon["uses"] += 1
    number = len(tables["sales_order"]) + 1
    return tables.add(
        "sales_order",
        number=f"{number:09d}",
        customer_id=customer["id"] if customer else None,
        placed_at=text(moment),
        status=status,
        subtotal_cents=totals.subtotal,
        discount_cents=totals.discount,
        shipping_cents=totals.shipping,
        total_cents=totals.total,
        refunded_cents=0,
        coupon_code=coupon["code"] if coupon else "",
        gift_note=voice.line("gift_note") if draw.chance(0.05) else "",
        shipping_method=rate["name"],
        payment_method=draw.pick(PAYMENTS[:1] * 3 + PAYMENTS),
        **_recipient(tables, draw, customer, known),
    )


def _coupon(tables: Tables, draw: Draw, moment: dt.datetime, subtotal: int) -> Row | None:
    day = moment.date().isoformat()
    fit = [
        row
        for row in tables["coupon"]
        if row["starts_on"] <= day <= row["ends_on"]
        and subtotal >= row["min_cents"]
        and (row["use_limit"] is None or row["uses"] < row["use_limit"])
        and row["active"]
    ]
    return draw.pick(fit) if fit else None


def _recipient(tables: Tables, draw: Draw, customer: Row | None, known: list[Row]) -> Row:
    columns = ("first_name", "last_name", "street", "town", "region", "postcode", "phone")
    if customer and known:
        address = known[0] if draw.chance(0.8) else draw.pick(known)
        return {"email": customer["email"]} | {column: address[column] for column in columns}
    town = draw.pick(tables["town"])
    first = customer["first_name"] if customer else draw.pick(words("names")["first"])
    last = customer["last_name"] if customer else draw.pick(words("names")["last"])
    handle = f"{first}.{last}{draw.between(1, 99)}".lower().replace(" ", "").replace("'", "")
    return {
        "email": customer["email"] if customer else f"{handle}@{draw.pick(words('names')['mail_domains'])}",
        "first_name": first,
        "last_name": last,
        "street": street(draw),
        **place_fields(tables, town),
        "phone": phone(draw, town["region_id"]),
    }


def _add_documents(tables: Tables, draw: Draw, history: History, voice: Voice) -> None:
    invoices, shipments, refunds, notes, returns = _Later(), _Later(), _Later(), _Later(), _Later()
    for order in tables["sales_order"]:
        placed = history.moments[order["id"]]
        key = {"order_id": order["id"]}
        invoiced = later(draw, placed, 0.1, 20)
        if order["status"] in INVOICED:
            invoices.add(invoiced, **key, created_at=text(invoiced), total_cents=order["total_cents"])
        if order["status"] in SHIPPED:
            shipped = later(draw, invoiced, 3, 60)
            history.shipped[order["id"]] = shipped
            shipments.add(shipped, **key, **_parcel(draw), shipped_at=text(shipped))
        _note(tables, draw, order, invoiced, notes, voice)
        if order["status"] == "closed":
            when = later(draw, history.shipped[order["id"]], 48, 600)
            order["refunded_cents"] = order["total_cents"]
            refunds.add(
                when, **key, created_at=text(when), amount_cents=order["total_cents"], reason=draw.pick(REFUND_REASONS)
            )
        elif order["status"] == "complete" and draw.chance(0.055):
            _return(draw, order, history, returns, refunds, voice)
    invoices.write(tables, "invoice", numbered=True)
    shipments.write(tables, "shipment", numbered=True)
    refunds.write(tables, "refund", numbered=True)
    notes.write(tables, "order_note")
    returns.write(tables, "return_request")


class _Later:
    """Rows that are numbered by their own time once all are known."""

    def __init__(self) -> None:
        self._rows: list[tuple[dt.datetime, int, Row]] = []

    def add(self, moment: dt.datetime, **values: object) -> None:
        self._rows.append((moment, len(self._rows), values))

    def write(self, tables: Tables, table: str, *, numbered: bool = False) -> None:
        for number, (_, _, values) in enumerate(sorted(self._rows, key=lambda row: row[:2])):
            tables.add(table, **values, **({"number": f"{number + 1:09d}"} if numbered else {}))


def _parcel(draw: Draw) -> dict[str, str]:
    carrier = draw.pick(CARRIERS)
    initials = "".join(word[0] for word in carrier.split()) + carrier[-1].upper()
    return {"carrier": carrier, "tracking": f"{initials[:2]}{draw.between(10**8, 10**9 - 1)}{draw.between(10, 99)}"}


def _note(tables: Tables, draw: Draw, order: Row, when: dt.datetime, notes: _Later, voice: Voice) -> None:
    kind = {"on_hold": "note_hold", "canceled": "note_cancel"}.get(order["status"])
    if kind is None and not draw.chance(0.08):
        return
    author = draw.pick([user for user in tables["admin_user"] if user["role_id"] in _ORDER_ROLES])
    moment = later(draw, when, 0.2, 12)
    notes.add(
        moment,
        order_id=order["id"],
        created_at=text(moment),
        author=f"{author['first_name']} {author['last_name']}",
        text=voice.line(kind or "note", first=order["first_name"], town=order["town"]),
        notify=int(draw.chance(0.4)),
    )


def _return(draw: Draw, order: Row, history: History, returns: _Later, refunds: _Later, voice: Voice) -> None:
    line = draw.pick(history.lines[order["id"]])
    asked = later(draw, history.shipped[order["id"]], 60, 400)
    fresh = (START - asked).days < 9
    status = "requested" if fresh else draw.pick(("received", "received", "received", "approved", "rejected"))
    quantity = line["quantity"] if draw.chance(0.7) else 1
    reason = draw.pick(RETURN_REASONS)
    returns.add(
        asked,
        order_id=order["id"],
        order_line_id=line["id"],
        quantity=quantity,
        reason=reason,
        comment=voice.line(_RETURN_WORDS[reason]) if draw.chance(0.7) else "",
        status=status,
        created_at=text(asked),
    )
    if status == "received":
        when = later(draw, asked, 72, 300)
        goods = line["price_cents"] * quantity
        amount = goods - order["discount_cents"] * goods // order["subtotal_cents"]
        order["refunded_cents"] = amount
        refunds.add(when, order_id=order["id"], created_at=text(when), amount_cents=amount, reason="Returned goods")
