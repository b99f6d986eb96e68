"""Every template by name."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from envservers.webarena.tasks.template import Template
from envservers.webarena.tasks.templates import (
    admin_catalog,
    admin_orders,
    admin_store,
    home,
    shop_account,
    shop_carts,
    shop_lists,
    shop_orders,
    shop_products,
    shop_service,
)

PARTS = (
    shop_products,
    shop_lists,
    shop_orders,
    shop_carts,
    shop_account,
    shop_service,
    admin_orders,
    admin_catalog,
    home,
    admin_store,
)


@cache
def by_name() -> Mapping[str, Template]:
    """In the order of the parts: new templates go behind, or tasks change their places."""
    templates = [template for part in PARTS for template in part.TEMPLATES]
    return {template.name: template for template in templates}
