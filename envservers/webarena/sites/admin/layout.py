"""What the head and the menu of every page show."""

from __future__ import annotations

from typing import Any, NamedTuple

from envservers.webarena.sites.admin.permissions import areas_of
from envservers.webarena.sites.common.page import Page
from envservers.webarena.sites.shop.layout import NAME

SHOP = "http://shop.test"


class Entry(NamedTuple):
    """A page of the menu and the permission that it needs."""

    href: str
    text: str
    area: str


class Section(NamedTuple):
    """A part of the menu; its pages show while one is among them."""

    text: str
    icon: str
    entries: tuple[Entry, ...]


MENU = (
    Section("Dashboard", "home", (Entry("/", "Dashboard", "dashboard"),)),
    Section(
        "Sales",
        "cart",
        (
            Entry("/orders", "Orders", "orders"),
            Entry("/invoices", "Invoices", "orders"),
            Entry("/shipments", "Shipments", "orders"),
            Entry("/refunds", "Refunds", "orders"),
            Entry("/returns", "Returns", "orders"),
        ),
    ),
    Section(
        "Catalog",
        "box",
        (
            Entry("/products", "Products", "products"),
            Entry("/categories", "Categories", "products"),
            Entry("/reviews", "Reviews", "reviews"),
        ),
    ),
    Section(
        "Customers",
        "user",
        (
            Entry("/customers", "All customers", "customers"),
            Entry("/groups", "Customer groups", "customers"),
            Entry("/messages", "Messages", "customers"),
        ),
    ),
    Section(
        "Marketing",
        "tag",
        (
            Entry("/coupons", "Coupons", "marketing"),
            Entry("/price-rules", "Price rules", "marketing"),
            Entry("/subscribers", "Newsletter subscribers", "marketing"),
        ),
    ),
    Section(
        "Reports",
        "chart",
        (
            Entry("/reports/sales", "Sales by period", "reports"),
            Entry("/reports/best-sellers", "Best sellers", "reports"),
            Entry("/reports/best-customers", "Best customers", "reports"),
            Entry("/reports/search-terms", "Search terms", "reports"),
            Entry("/reports/low-stock", "Low stock", "reports"),
            Entry("/reports/refunds", "Refund totals", "reports"),
            Entry("/reports/coupons", "Coupon usage", "reports"),
        ),
    ),
    Section("Content", "page", (Entry("/pages", "Pages", "content"),)),
    Section(
        "Settings",
        "gear",
        (
            Entry("/shipping", "Shipping rates", "settings"),
            Entry("/users", "Users", "settings"),
            Entry("/roles", "Roles", "settings"),
        ),
    ),
)


class MenuSection(NamedTuple):
    """A part of the menu as one person sees it on one page."""

    text: str
    icon: str
    href: str
    here: bool
    entries: list[tuple[str, str, bool]]
    """Href, text, whether one is there."""


def menu(page: Page) -> list[MenuSection]:
    """The parts that the role may open."""
    allowed = areas_of(page.admin)
    shown = []
    for section in MENU:
        entries = [entry for entry in section.entries if entry.area in allowed]
        if entries:
            marked = [(entry.href, entry.text, _is_at(page.path, entry.href)) for entry in entries]
            here = any(there for _, _, there in marked)
            shown.append(MenuSection(section.text, section.icon, entries[0].href, here, marked))
    return shown


def first_page(areas: frozenset[str]) -> str:
    """Where a role begins."""
    return next((entry.href for section in MENU for entry in section.entries if entry.area in areas), "/account")


def layout(page: Page) -> dict[str, Any]:
    """Values of the template `layout.html`."""
    return {
        "favicon": "admin.svg",
        "shop_name": NAME,
        "shop": SHOP,
        "menu": menu(page) if page.admin else [],
        "may": areas_of(page.admin),
    }


def _is_at(path: str, href: str) -> bool:
    return path == href or (href != "/" and path.startswith(href + "/"))
