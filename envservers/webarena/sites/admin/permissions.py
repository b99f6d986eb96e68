"""What a role may do: an area each route names, and areas that the role names."""

from __future__ import annotations

from envservers.webarena.site import SiteResponse
from envservers.webarena.sites.common.page import Page
from envservers.webarena.sites.common.routing import Route
from envservers.webarena.state.database import Row

AREA_TEXTS = {
    "dashboard": "Dashboard",
    "orders": "Orders, invoices, shipments, refunds and returns",
    "products": "Products and categories",
    "customers": "Customers, groups and messages",
    "reviews": "Reviews",
    "marketing": "Coupons, price rules and newsletter",
    "reports": "Reports",
    "content": "Content pages",
    "settings": "Shipping rates, users and roles",
}
"""What the areas are called where one is asked about them."""


def areas_of(admin: Row | None) -> frozenset[str]:
    """The areas of an admin user's role."""
    return frozenset(admin["permissions"].split(",")) if admin else frozenset()


def guard(page: Page, route: Route) -> SiteResponse | None:
    """The refusal for a role without the route's area."""
    if not route.area or route.area in areas_of(page.admin):
        return None
    if page.request.method == "POST":
        return page.go("/no-permission")
    return refuse(page)


def refuse(page: Page) -> SiteResponse:
    """The page that says so."""
    return page.render("no_permission.html", status=403)
