"""Who works here, and what their roles may do."""

from __future__ import annotations

import re

from envservers.webarena.site import SiteResponse
from envservers.webarena.sites.admin.pages.own_account import SHORTEST_PASSWORD
from envservers.webarena.sites.admin.permissions import AREA_TEXTS
from envservers.webarena.sites.common.forms import Form
from envservers.webarena.sites.common.page import Page
from envservers.webarena.state.database import Db, Row, Value
from envservers.webarena.world.vocabulary import ADMIN_AREAS

_USERNAME = re.compile(r"[a-z0-9][a-z0-9._-]{2,39}")


def users(page: Page) -> SiteResponse:
    """All of them."""
    rows = page.db.all(
        "SELECT admin_user.*, admin_role.name AS role FROM admin_user JOIN admin_role ON admin_role.id = role_id"
        " ORDER BY admin_user.id"
    )
    return page.render("users.html", rows=rows)


def new_user(page: Page) -> SiteResponse:
    """An empty form."""
    return page.render("user.html", row=None, roles=_roles(page.db), draft=page.draft())


def create_user(page: Page) -> SiteResponse:
    """One more."""
    form = Form(page.request.form)
    typed = _read_user(page, form, None)
    typed["password"] = form.password("password", "Password", at_least=SHORTEST_PASSWORD)
    if form.errors:
        return page.refuse(form, page.path)
    page.db.write(
        f"INSERT INTO admin_user ({', '.join(typed)}, created_at) VALUES ({', '.join('?' * len(typed))}, ?)",
        *(*typed.values(), page.now.time),
    )
    page.flash("You saved the user.")
    return page.go("/users")


def edit_user(page: Page) -> SiteResponse:
    """The form of one user."""
    row = _user(page)
    return page.render("user.html", row=row, roles=_roles(page.db), draft=page.draft()) if row else page.not_found()


def save_user(page: Page) -> SiteResponse:
    """Change them; an empty password stays what it is."""
    row = _user(page)
    if row is None:
        return page.not_found()
    form = Form(page.request.form)
    typed = _read_user(page, form, row)
    if page.sent("password"):
        typed["password"] = form.password("password", "New password", at_least=SHORTEST_PASSWORD)
    form.secret.add("password")
    if form.errors:
        return page.refuse(form, page.path)
    page.db.write(
        f"UPDATE admin_user SET {', '.join(f'{name} = ?' for name in typed)} WHERE id = ?", *typed.values(), row["id"]
    )
    page.flash("You saved the user.")
    return page.go("/users")


def roles(page: Page) -> SiteResponse:
    """All of them, with how many have each."""
    rows = page.db.all(
        "SELECT admin_role.*, (SELECT count(*) FROM admin_user WHERE role_id = admin_role.id) AS number"
        " FROM admin_role ORDER BY id"
    )
    return page.render("roles.html", rows=rows)


def new_role(page: Page) -> SiteResponse:
    """An empty form."""
    return page.render("role.html", row=None, areas=AREA_TEXTS, has=("dashboard",), draft=page.draft())


def create_role(page: Page) -> SiteResponse:
    """One more."""
    form = Form(page.request.form)
    name, areas = _read_role(page, form, None)
    if form.errors:
        return page.refuse(form, page.path)
    page.db.write("INSERT INTO admin_role (name, permissions) VALUES (?, ?)", name, areas)
    page.flash("You saved the role.")
    return page.go("/roles")


def edit_role(page: Page) -> SiteResponse:
    """The form of one role."""
    row = _role(page)
    if row is None:
        return page.not_found()
    return page.render("role.html", row=row, areas=AREA_TEXTS, has=row["permissions"].split(","), draft=page.draft())


def save_role(page: Page) -> SiteResponse:
    """Change it."""
    row = _role(page)
    if row is None:
        return page.not_found()
    form = Form(page.request.form)
    name, areas = _read_role(page, form, row)
    if form.errors:
        return page.refuse(form, page.path)
    page.db.write("UPDATE admin_role SET name = ?, permissions = ? WHERE id = ?", name, areas, row["id"])
    page.flash("You saved the role.")
    return page.go("/roles")


def _user(page: Page) -> Row | None:
    return page.db.one("SELECT * FROM admin_user WHERE id = ?", int(page.params["id"]))


def _role(page: Page) -> Row | None:
    return page.db.one("SELECT * FROM admin_role WHERE id = ?", int(page.params["id"]))


def _roles(db: Db) -> list[tuple[str, str]]:
    return [(str(row["id"]), row["name"]) for row in db.all("SELECT * FROM admin_role ORDER BY id")]


def _read_user(page: Page, form: Form, row: Row | None) -> dict[str, Value]:
    """The columns in a form. Nobody locks themselves out."""
    values: dict[str, Value] = {
        "username": form.text("username", "User name", limit=40).lower(),
        "first_name": form.text("first_name", "First name", limit=60),
        "last_name": form.text("last_name", "Last name", limit=60),
        "email": form.email(),
        "role_id": int(form.choice("role", "Role", dict(_roles(page.db))) or 0),
        "active": int(form.ticked("active")),
    }
    own = row is not None and page.admin is not None and row["id"] == page.admin["id"]
    if "username" not in form.errors:
        if not _USERNAME.fullmatch(str(values["username"])):
            form.errors["username"] = "User name: please use 3 to 40 letters, digits, dots and hyphens."
        elif page.db.one(
            "SELECT 1 FROM admin_user WHERE lower(username) = ? AND id <> ?",
            *(values["username"], row["id"] if row else 0),
        ):
            form.errors["username"] = "User name: there is already a user with this name."
    if own and row is not None and not values["active"]:
        form.errors["active"] = "You cannot deactivate your own account."
    if own and row is not None and "role" not in form.errors and values["role_id"] != row["role_id"]:
        form.errors["role"] = "You cannot change your own role."
    return values


def _read_role(page: Page, form: Form, row: Row | None) -> tuple[str, str]:
    name = form.text("name", "Role name", limit=40)
    areas = [area for area in ADMIN_AREAS if form.ticked(f"area_{area}")]
    if not areas:
        form.errors["areas"] = "Permissions: please choose at least one."
    elif row is not None and page.admin is not None and row["id"] == page.admin["role_id"] and "settings" not in areas:
        form.errors["areas"] = "You cannot take the settings from your own role."
    if "name" not in form.errors and page.db.one(
        "SELECT 1 FROM admin_role WHERE lower(name) = lower(?) AND id <> ?", name, row["id"] if row else 0
    ):
        form.errors["name"] = "Role name: there is already a role with this name."
    return name, ",".join(areas)
