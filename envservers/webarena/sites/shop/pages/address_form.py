"""The fields of an address, in the address book and at checkout."""

from __future__ import annotations

from collections.abc import Mapping

from envservers.webarena.sites.common.forms import Form
from envservers.webarena.sites.shop.orders import ADDRESS
from envservers.webarena.state.database import Db, Row


def address_values(row: Row | Mapping[str, str] | None) -> dict[str, str]:
    """What the fields hold at first."""
    return {name: row[name] if row else "" for name in ADDRESS}


def regions(db: Db) -> list[tuple[str, str]]:
    """Choices of the field `region`."""
    return [(row["name"], row["name"]) for row in db.all("SELECT name FROM region ORDER BY name")]


def read_address(form: Form, db: Db) -> dict[str, str]:
    """The address in a form."""
    return {
        "first_name": form.text("first_name", "First name", limit=60),
        "last_name": form.text("last_name", "Last name", limit=60),
        "street": form.text("street", "Street address"),
        "postcode": form.text("postcode", "Postcode", limit=12),
        "town": form.text("town", "Town", limit=60),
        "region": form.choice("region", "Region", [name for name, _ in regions(db)]),
        "phone": form.text("phone", "Phone number", limit=30),
    }
