"""Customers with their addresses; number 1 is Mara, the main shopper."""

from __future__ import annotations

import datetime as dt

from envservers.webarena.world.calendar import START, at_hour, text
from envservers.webarena.world.draw import Draw
from envservers.webarena.world.grammar.load import words
from envservers.webarena.world.places import phone, place_fields, street
from envservers.webarena.world.sizes import DAYS, Size
from envservers.webarena.world.tables import Row, Tables

GROUPS = (("General", 0), ("Wholesale", 8), ("Member", 5), ("Staff", 15))
MAIN = ("Mara", "Lindqvist")
_PASSWORD_WORDS = ("anchor", "barley", "candle", "dapple", "easel", "feather", "gravel", "hazel", "inkwell", "juniper")


def add_customers(tables: Tables, draw: Draw, size: Size) -> None:
    """Groups, customers in order of registration, addresses."""
    for group, percent in GROUPS:
        tables.add("customer_group", name=group, discount_percent=percent)
    first, last = words("names")["first"], words("names")["last"]
    mails: set[str] = set()
    # A third registered before the history that the shop still has, the rest during it.
    days = [DAYS + 380] + [max(1, int(draw.random() * (DAYS + 365))) for _ in range(size.customers - 1)]
    moments = sorted(at_hour(draw, START.date() - dt.timedelta(days=day), draw.between(7, 22)) for day in days)
    for number, created in enumerate(moments):
        name: tuple[str, str]
        if number == 0:
            name = MAIN
        elif number > 5 and draw.chance(0.012):  # people share names
            other = tables["customer"][draw.between(1, number - 1)]
            name = (other["first_name"], other["last_name"])
        else:
            name = (draw.pick(first), draw.pick(last))
        _customer(tables, draw, name, created, mails)


def _customer(tables: Tables, draw: Draw, name: tuple[str, str], created: dt.datetime, mails: set[str]) -> None:
    main = not tables["customer"]
    town = draw.pick(tables["town"])
    number = phone(draw, town["region_id"])
    group = 1 if main or draw.chance(0.82) else draw.pick((2, 3, 3, 3, 4))
    row = tables.add(
        "customer",
        email="mara.lindqvist@postbox.example" if main else _mail(draw, name, mails),
        password="lantern-42" if main else f"{draw.pick(_PASSWORD_WORDS)}-{draw.between(10, 99)}",
        first_name=name[0],
        last_name=name[1],
        phone=number,
        group_id=group,
        newsletter=int(main or draw.chance(0.4)),
        active=int(main or not draw.chance(0.02)),
        created_at=text(created),
    )
    mails.add(row["email"])
    count = 3 if main else draw.pick((0, 1, 1, 1, 1, 1, 1, 2, 2, 3))
    for place in range(count):
        # Second addresses: another town or other people's names.
        where = town if place == 0 else draw.pick(tables["town"])
        first = name[0] if place == 0 or draw.chance(0.5) else draw.pick(words("names")["first"])
        tables.add(
            "address",
            customer_id=row["id"],
            first_name=first,
            last_name=name[1],
            street=street(draw),
            **place_fields(tables, where),
            phone=number if place == 0 else phone(draw, where["region_id"]),
            is_default=int(place == 0),
        )


def _mail(draw: Draw, name: tuple[str, str], taken: set[str]) -> str:
    first, last = (part.lower().replace(" ", "").replace("'", "") for part in name)
    domains = words("names")["mail_domains"]
    forms: tuple[str, ...] = (
        f"{first}.{last}",
        f"{first[0]}.{last}",
        f"{first}{draw.between(60, 99)}",
        f"{last}.{first}",
        f"{first}_{last}",
    )
    while (mail := f"{draw.pick(forms)}@{draw.pick(domains)}") in taken:
        forms = (f"{first}.{last}{draw.between(2, 99)}",)
    return mail


def addresses_of(tables: Tables) -> dict[int, list[Row]]:
    """Addresses by customer, the default first."""
    found: dict[int, list[Row]] = {}
    for row in tables["address"]:
        found.setdefault(row["customer_id"], []).append(row)
    return found
