"""The fields of a customer, new or known."""

from __future__ import annotations

from envservers.webarena.sites.common.forms import Form
from envservers.webarena.state.database import Db, Value

SHORTEST_PASSWORD = 8


def groups(db: Db) -> list[tuple[str, str]]:
    """Id and name."""
    return [(str(row["id"]), row["name"]) for row in db.all("SELECT id, name FROM customer_group ORDER BY id")]


def read(form: Form, db: Db, *, but: int = 0) -> dict[str, Value]:
    """The columns in a form; `but`: the customer who may have this address already."""
    values: dict[str, Value] = {
        "first_name": form.text("first_name", "First name", limit=60),
        "last_name": form.text("last_name", "Last name", limit=60),
        "email": form.email(),
        "phone": form.text("phone", "Phone number", limit=30, needed=False),
        "group_id": int(form.choice("group", "Customer group", dict(groups(db))) or 0),
        "newsletter": int(form.ticked("newsletter")),
        "active": int(form.ticked("active")),
    }
    if "email" not in form.errors and db.one(
        "SELECT 1 FROM customer WHERE lower(email) = lower(?) AND id <> ?", values["email"], but
    ):
        form.errors["email"] = "There is already a customer with this email address."
    return values
