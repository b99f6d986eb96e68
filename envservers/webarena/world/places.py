"""Towns, regions and people, the same for every site of a world."""

from __future__ import annotations

from envservers.webarena.world.draw import Draw
from envservers.webarena.world.grammar.load import words
from envservers.webarena.world.tables import Row, Tables

PEOPLE = 60
COMPANIES = 30
"""Brands 1 to 30 are companies that every site of a world knows."""


def add_places(tables: Tables, draw: Draw) -> None:
    """Regions, towns and sixty people whom one has heard of."""
    for region, towns in words("places")["regions"].items():
        region_id = tables.add("region", name=region)["id"]
        for name, postcode in towns:
            tables.add("town", region_id=region_id, name=name, postcode=postcode)
    roles = words("places")["person_roles"]
    for number, name in enumerate(full_names(draw, PEOPLE)):
        town = draw.pick(tables["town"])
        known_for = f"{roles[number % len(roles)]} from {town['name']}"
        tables.add("person", name=name, town_id=town["id"], known_for=known_for)


def full_names(draw: Draw, count: int) -> list[str]:
    """Different full names."""
    first, last = words("names")["first"], words("names")["last"]
    names: dict[str, None] = {}
    while len(names) < count:
        names.setdefault(f"{draw.pick(first)} {draw.pick(last)}")
    return list(names)


def street(draw: Draw) -> str:
    """A street with a number, at times with a flat."""
    number = str(draw.between(1, 148)) + (draw.pick("abc") if draw.chance(0.08) else "")
    flat = f", Flat {draw.between(1, 24)}" if draw.chance(0.12) else ""
    return f"{draw.pick(words('places')['streets'])} {number}{flat}"


def phone(draw: Draw, region_id: int) -> str:
    """A number of that region."""
    return f"0{20 + region_id} 555 {draw.between(1000, 9999)}"


def place_fields(tables: Tables, town: Row) -> dict[str, str]:
    """Columns town, region and postcode of an address."""
    region = tables.row("region", town["region_id"])
    return {"town": town["name"], "region": region["name"], "postcode": town["postcode"]}
