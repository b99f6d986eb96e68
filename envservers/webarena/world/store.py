"""What the store's people run: staff, coupons, shipping, pages, and what visitors searched for."""

from __future__ import annotations

import datetime as dt
import sqlite3

from envservers.webarena.world.calendar import START, at_hour, text
from envservers.webarena.world.draw import Draw, zipf
from envservers.webarena.world.grammar.load import Leaf, words
from envservers.webarena.world.sizes import Size
from envservers.webarena.world.tables import Tables
from envservers.webarena.world.vocabulary import ADMIN_AREAS
from envservers.webarena.world.voices import TYPOS, Voice, with_typo

_ROLES = (
    ("Store manager", ADMIN_AREAS),
    ("Order desk", ("dashboard", "orders", "customers")),
    ("Catalogue editor", ("dashboard", "products", "reviews", "content")),
    ("Marketing", ("dashboard", "marketing", "reports", "content")),
    ("Auditor", ("dashboard", "reports")),
)
_STAFF = (
    ("nadia.reyes", "Nadia", "Reyes", 1),
    ("tom.ashby", "Tom", "Ashby", 2),
    ("ines.kofler", "Ines", "Kofler", 3),
    ("luca.byrne", "Luca", "Byrne", 4),
    ("sara.lund", "Sara", "Lund", 2),
    ("georg.pell", "Georg", "Pell", 5),
)
_RATES = (
    ("standard", "Standard delivery", 490, 6000, "3 to 5 working days", 1),
    ("express", "Express delivery", 1190, None, "1 to 2 working days", 1),
    ("pickup", "Pick up in store", 0, None, "ready within 24 hours", 1),
    ("overnight", "Overnight courier", 1990, None, "next morning", 0),
)
_OCCASIONS = [
    "SPRING",
    "SUMMER",
    "AUTUMN",
    "WINTER",
    "WELCOME",
    "GARDEN",
    "COFFEE",
    "TRAIL",
    "READER",
    "HOME",
    "PARTY",
    "WEEKEND",
    "LOYAL",
    "MUG",
    "NIGHT",
]


def add_staff(tables: Tables, draw: Draw) -> None:
    """Roles and users; user 1 is the main manager."""
    for name, areas in _ROLES:
        tables.add("admin_role", name=name, permissions=",".join(areas))
    for number, (username, first, last, role) in enumerate(_STAFF):
        created = at_hour(draw, START.date() - dt.timedelta(days=900 - 120 * number), 9)
        tables.add(
            "admin_user",
            username=username,
            password=f"{('harbour', 'cobble', 'tinder', 'marrow', 'pocket', 'ledger')[number]}-{17 + 9 * number}",
            email=f"{username}@shop.example",
            first_name=first,
            last_name=last,
            role_id=role,
            active=int(number != 4),
            created_at=text(created),
        )


def add_rates(tables: Tables) -> None:
    """Ways of delivery."""
    for code, name, price, free_over, days, active in _RATES:
        tables.add(
            "shipping_rate",
            code=code,
            name=name,
            price_cents=price,
            free_over_cents=free_over,
            days=days,
            active=active,
        )


def add_coupons(tables: Tables, draw: Draw, size: Size) -> None:
    """Past, running, coming, switched off, limited and used up. `uses` is counted by the orders."""
    today = START.date()
    states = ("running", "running", "expired", "expired", "expired", "future", "off", "limited")
    codes: set[str] = set()
    for number in range(size.coupons):
        state = states[number % len(states)]
        kind = ("percent", "percent", "fixed", "percent", "free_shipping", "fixed")[number % 6]
        amount = {
            "percent": draw.pick((5, 10, 10, 15, 20, 25)),
            "fixed": draw.pick((500, 800, 1000, 1500)),
            "free_shipping": 0,
        }[kind]
        start, end = _period(draw, today, state)
        code = _code(draw, kind, amount, codes)
        least = draw.pick((0, 2000, 3000, 5000, 8000)) if kind != "fixed" else draw.pick((3, 4, 6)) * amount
        tables.add(
            "coupon",
            code=code,
            description=_coupon_text(kind, amount, least),
            kind=kind,
            amount=amount,
            min_cents=least,
            starts_on=start.isoformat(),
            ends_on=end.isoformat(),
            active=int(state != "off"),
            uses=0,
            use_limit=draw.between(2, 9)
            if state == "limited"
            else (draw.pick((100, 250, 500)) if draw.chance(0.3) else None),
        )


def _period(draw: Draw, today: dt.date, state: str) -> tuple[dt.date, dt.date]:
    day = dt.timedelta(days=1)
    match state:
        case "expired":
            start = today - day * draw.between(60, 700)
            return start, min(start + day * draw.between(10, 90), today - day * draw.between(2, 20))
        case "future":
            start = today + day * draw.between(3, 60)
            return start, start + day * draw.between(7, 45)
        case _:
            return today - day * draw.between(20, 500), today + day * draw.between(10, 200)


def _code(draw: Draw, kind: str, amount: int, taken: set[str]) -> str:
    number = {"percent": amount, "fixed": amount // 100, "free_shipping": "SHIP"}[kind]
    while (code := f"{draw.pick(_OCCASIONS)}{number}") in taken:
        number = f"{str(number)[:4]}{draw.pick('ABCDEFGHKLMNPRSTUVWXYZ')}"
    taken.add(code)
    return code


def _coupon_text(kind: str, amount: int, least: int) -> str:
    what = {"percent": f"{amount} % off", "fixed": f"{amount // 100}.00 off", "free_shipping": "Free delivery"}[kind]
    return what + (f" on orders of {least // 100}.00 or more" if least else " on every order")


def add_pages(tables: Tables, draw: Draw) -> None:
    """Help and legal pages; the last one is a draft."""
    for number, page in enumerate(words("pages")["pages"]):
        day = START.date() - dt.timedelta(days=20 + 37 * number)
        tables.add(
            "cms_page",
            slug=page["slug"],
            title=page["title"],
            body="\n\n".join(" ".join(part.split()) for part in page["body"].strip().split("\n\n")),
            active=int(page.get("active", True)),
            updated_at=text(at_hour(draw, day, draw.between(9, 17))),
        )


def add_subscribers(tables: Tables, draw: Draw, size: Size) -> None:
    """Newsletter readers without an account."""
    names = words("names")
    mails: dict[str, None] = {}
    while len(mails) < size.customers // 4:
        handle = f"{draw.pick(names['first'])}.{draw.pick(names['last'])}".lower().replace(" ", "").replace("'", "")
        mails.setdefault(f"{handle}{draw.between(1, 999)}@{draw.pick(names['mail_domains'])}")
    ages = sorted((draw.between(2, 800) for _ in mails), reverse=True)
    for mail, age in zip(mails, ages, strict=True):
        tables.add("subscriber", email=mail, created_at=text(_some_hour(draw, age)))


def add_messages(tables: Tables, draw: Draw, size: Size, voice: Voice) -> None:
    """What came in by the contact form, about orders and about other things."""
    ages = sorted((draw.between(1, 120) for _ in range(max(6, size.customers // 10))), reverse=True)
    for age in ages:
        about_order = draw.chance(0.5)
        sender = draw.pick(tables["sales_order"] if about_order else tables["customer"])
        product = draw.pick(tables["product"])["name"]
        said = voice.line("message_order") if about_order else voice.line("message_product", product=product)
        if not said.startswith("I "):
            said = said[:1].lower() + said[1:]
        body = f"{voice.line('message_open')} {said}"
        tables.add(
            "contact_message",
            name=f"{sender['first_name']} {sender['last_name']}",
            email=sender["email"],
            subject="My order" if about_order else draw.pick(("A product", "Delivery", "Something else")),
            order_number=sender["number"] if about_order else "",
            body=with_typo(draw, body) if draw.chance(TYPOS) else body,
            created_at=text(_some_hour(draw, age)),
        )


def _some_hour(draw: Draw, age_days: int) -> dt.datetime:
    return at_hour(draw, START.date() - dt.timedelta(days=age_days), draw.between(7, 22))


def search_terms(draw: Draw, size: Size, leaves: dict[int, tuple[str, Leaf]]) -> list[str]:
    """What people typed, the commonest first: goods, goods with a quality, misspellings."""
    terms: dict[str, None] = {}
    filled = [leaf for _, leaf in leaves.values() if not leaf.empty]
    while len(terms) < size.search_terms:
        leaf = draw.pick(filled)
        noun = draw.pick((*leaf.nouns, leaf.name)).lower()
        qualifier = draw.pick(leaf.qualifiers).lower()
        term = draw.pick(
            (noun, noun, f"{qualifier} {noun}", f"{noun} {qualifier}", noun.split()[-1], draw.pick(leaf.uses))
        )
        terms.setdefault(with_typo(draw, term) if draw.chance(0.08) else term)
    return list(terms)


def insert_search_terms(connection: sqlite3.Connection, terms: list[str]) -> None:
    """With how often, and with how many products each finds now."""
    question = (
        "SELECT count(*) FROM product_search JOIN product ON product.id = product_search.rowid "
        "WHERE product_search MATCH ? AND product.status = 'enabled'"
    )
    for number, (term, weight) in enumerate(zip(terms, zipf(len(terms)), strict=True)):
        match = " ".join(f'"{word}"' for word in term.replace('"', "").split())
        found = connection.execute(question, (match,)).fetchone()[0]
        connection.execute("INSERT INTO search_term VALUES (?, ?, ?, ?)", (number + 1, term, int(weight), found))
