"""What the head and foot of every page show."""

from __future__ import annotations

from typing import Any

from envservers.webarena.sites.common.page import Page
from envservers.webarena.sites.shop import baskets, catalogue

NAME = "Quayside Goods"


def layout(page: Page) -> dict[str, Any]:
    """Values of the template `layout.html`."""
    return {
        "favicon": "shop.svg",
        "shop_name": NAME,
        "departments": [(f"/c/{row['slug']}", row["name"]) for row in catalogue.departments(page.db)],
        "cart_count": baskets.count(page),
    }
