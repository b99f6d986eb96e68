"""Who is logged in: the cookie `sid` names an entry of `scratch["logins"]`."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping

from envservers.webarena.site import Now
from envservers.webarena.state.database import Db, Row

COOKIE = "sid"


def log_in(db: Db, now: Now, *, customer: int | None = None, admin: int | None = None) -> str:
    """Log a customer or an admin user in by row id; the value of the cookie."""
    count = db.scratch["login_count"] = db.scratch.get("login_count", 0) + 1
    value = hmac.new(now.secret, f"login:{count}".encode(), hashlib.sha256).hexdigest()[:32]
    who = {"customer": customer} if customer is not None else {"admin": admin}
    db.scratch.setdefault("logins", {})[value] = who
    return value


def log_out(db: Db, cookies: Mapping[str, str]) -> None:
    """Forget the log-in of these cookies."""
    db.scratch.get("logins", {}).pop(cookies.get(COOKIE, ""), None)


def current_customer(db: Db, cookies: Mapping[str, str]) -> Row | None:
    """The customer's row with the group's `discount_percent`, None for guests."""
    who = _who(db, cookies, "customer")
    if who is None:
        return None
    return db.one(
        "SELECT customer.*, customer_group.name AS group_name, discount_percent"
        " FROM customer JOIN customer_group ON customer_group.id = group_id WHERE customer.id = ? AND active = 1",
        who,
    )


def current_admin(db: Db, cookies: Mapping[str, str]) -> Row | None:
    """The admin user's row with the role's `role_name` and `permissions`, None for others."""
    who = _who(db, cookies, "admin")
    if who is None:
        return None
    return db.one(
        "SELECT admin_user.*, admin_role.name AS role_name, permissions"
        " FROM admin_user JOIN admin_role ON admin_role.id = role_id WHERE admin_user.id = ? AND active = 1",
        who,
    )


def _who(db: Db, cookies: Mapping[str, str], kind: str) -> int | None:
    who: int | None = db.scratch.get("logins", {}).get(cookies.get(COOKIE, ""), {}).get(kind)
    return who
