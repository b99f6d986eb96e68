"""The list of customers, and new ones."""

from __future__ import annotations

from envservers.webarena.site import SiteResponse
from envservers.webarena.sites.admin.grid import Column, Filters, grid
from envservers.webarena.sites.admin.pages.customer_form import SHORTEST_PASSWORD, groups, read
from envservers.webarena.sites.common.forms import Form
from envservers.webarena.sites.common.page import Page

COLUMNS = (
    Column("id", "ID", "customer.id", number=True),
    Column("name", "Name", "first_name || ' ' || last_name"),
    Column("email", "Email", "email"),
    Column("phone", "Phone"),
    Column("group", "Group", "customer_group.name"),
    Column("orders", "Orders", number=True),
    Column("since", "Customer since", "created_at"),
    Column("active", "Active", "active"),
)


def show(page: Page) -> SiteResponse:
    """A page of them."""
    filters = Filters(page)
    filters.contains("name", "Name", "first_name || ' ' || last_name")
    filters.contains("email", "Email", "email")
    filters.contains("phone", "Phone", "phone")
    filters.choice("group", "Group", dict(groups(page.db)), "CAST(group_id AS TEXT)")
    filters.choice("active", "Active", ("1", "0"), "CAST(active AS TEXT)")
    filters.days("created_at")
    found = grid(
        page,
        COLUMNS,
        filters,
        select="customer.*, customer_group.name AS group_name,"
        " (SELECT count(*) FROM sales_order WHERE customer_id = customer.id) AS orders",
        source="customer LEFT JOIN customer_group ON customer_group.id = group_id",
        first="id",
        key="customer.id",
    )
    return page.render("customers.html", grid=found, filters=filters, groups=groups(page.db))


def new(page: Page) -> SiteResponse:
    """An empty form."""
    return page.render("customer_new.html", draft=page.draft(), groups=groups(page.db), shortest=SHORTEST_PASSWORD)


def create(page: Page) -> SiteResponse:
    """A new customer."""
    form = Form(page.request.form)
    typed = read(form, page.db)
    password = form.password("password", "Password", at_least=SHORTEST_PASSWORD)
    if form.errors:
        return page.refuse(form, "/customers/new")
    customer_id = page.db.write(
        f"INSERT INTO customer ({', '.join(typed)}, password, created_at) VALUES ({', '.join('?' * len(typed))}, ?, ?)",
        *(*typed.values(), password, page.now.time),
    )
    page.flash("You saved the customer.")
    return page.go(f"/customers/{customer_id}")
