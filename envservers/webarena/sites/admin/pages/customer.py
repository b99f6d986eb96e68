"""One customer: account, orders, addresses."""

from __future__ import annotations

from typing import Any

from envservers.webarena.site import SiteResponse
from envservers.webarena.sites.admin.pages.customer_form import groups, read
from envservers.webarena.sites.common.forms import Form
from envservers.webarena.sites.common.page import Page
from envservers.webarena.sites.common.paging import pages
from envservers.webarena.sites.shop import orders
from envservers.webarena.sites.shop.orders import ADDRESS
from envservers.webarena.sites.shop.pages.address_form import address_values, read_address, regions
from envservers.webarena.state.database import Row

ORDERS_PER_PAGE = 20


def account(page: Page) -> SiteResponse:
    """Who it is, and what they bought in all."""
    row = _customer(page)
    if row is None:
        return page.not_found()
    totals = page.db.one(
        "SELECT count(*) AS number, coalesce(sum(total_cents), 0) AS total, max(placed_at) AS last FROM sales_order"
        " WHERE customer_id = ? AND status <> 'canceled'",
        row["id"],
    )
    return page.render("customer.html", draft=page.draft(), groups=groups(page.db), totals=totals, **_shown(page, row))


def save(page: Page) -> SiteResponse:
    """Change it."""
    row = _customer(page)
    if row is None:
        return page.not_found()
    form = Form(page.request.form)
    typed = read(form, page.db, but=row["id"])
    if form.errors:
        return page.refuse(form, page.path)
    page.db.write(
        f"UPDATE customer SET {', '.join(f'{name} = ?' for name in typed)} WHERE id = ?", *typed.values(), row["id"]
    )
    page.flash("You saved the customer.")
    return page.go(page.path)


def order_list(page: Page) -> SiteResponse:
    """What they ordered, latest first."""
    row = _customer(page)
    if row is None:
        return page.not_found()
    cut = pages(orders.count(page.db, row["id"], ""), page.asked("page"), ORDERS_PER_PAGE)
    found = orders.history(page.db, row["id"], "", limit=cut.per, skip=cut.skipped)
    return page.render("customer_orders.html", orders=found, pages=cut, **_shown(page, row))


def addresses(page: Page) -> SiteResponse:
    """The address book."""
    row = _customer(page)
    if row is None:
        return page.not_found()
    return page.render("customer_addresses.html", addresses=page.db.all(_ADDRESSES, row["id"]), **_shown(page, row))


def new_address(page: Page) -> SiteResponse:
    """An empty form."""
    row = _customer(page)
    if row is None:
        return page.not_found()
    start = address_values(None) | {"first_name": row["first_name"], "last_name": row["last_name"]}
    return _address_form(page, row, "New address", start)


def add_address(page: Page) -> SiteResponse:
    """One more; the first is the default."""
    row = _customer(page)
    if row is None:
        return page.not_found()
    form = Form(page.request.form)
    typed = read_address(form, page.db)
    if form.errors:
        return page.refuse(form, page.path)
    first = page.db.one("SELECT 1 FROM address WHERE customer_id = ?", row["id"]) is None
    page.db.write(
        f"INSERT INTO address (customer_id, {', '.join(ADDRESS)}, is_default) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        *(row["id"], *(typed[name] for name in ADDRESS), int(first)),
    )
    page.flash("You saved the address.")
    return page.go(f"/customers/{row['id']}/addresses")


def edit_address(page: Page) -> SiteResponse:
    """The form of one address."""
    row, address = _customer(page), _address(page)
    if row is None or address is None:
        return page.not_found()
    return _address_form(page, row, "Edit address", address_values(address))


def save_address(page: Page) -> SiteResponse:
    """Change it."""
    row, address = _customer(page), _address(page)
    if row is None or address is None:
        return page.not_found()
    form = Form(page.request.form)
    typed = read_address(form, page.db)
    if form.errors:
        return page.refuse(form, page.path)
    page.db.write(
        f"UPDATE address SET {', '.join(f'{name} = ?' for name in ADDRESS)} WHERE id = ?",
        *(*(typed[name] for name in ADDRESS), address["id"]),
    )
    page.flash("You saved the address.")
    return page.go(f"/customers/{row['id']}/addresses")


_ADDRESSES = "SELECT * FROM address WHERE customer_id = ? ORDER BY is_default DESC, id"


def _customer(page: Page) -> Row | None:
    return page.db.one("SELECT * FROM customer WHERE id = ?", int(page.params["id"]))


def _address(page: Page) -> Row | None:
    return page.db.one(
        "SELECT * FROM address WHERE id = ? AND customer_id = ?", int(page.params["address"]), int(page.params["id"])
    )


def _address_form(page: Page, row: Row, title: str, start: dict[str, str]) -> SiteResponse:
    return page.render(
        "customer_address.html",
        form_title=title,
        start=start,
        draft=page.draft(),
        regions=regions(page.db),
        **_shown(page, row),
    )


def _shown(page: Page, row: Row) -> dict[str, Any]:
    """What every tab shows."""
    path = f"/customers/{row['id']}"
    tabs = [(path, "Account"), (f"{path}/addresses", "Addresses")]
    if "orders" in (page.admin["permissions"].split(",") if page.admin else ()):
        tabs.insert(1, (f"{path}/orders", "Orders of this customer"))
    return {
        "customer": row,
        "path": path,
        "tabs": [
            (href, text, page.path == href or (href != path and page.path.startswith(href))) for href, text in tabs
        ],
    }
