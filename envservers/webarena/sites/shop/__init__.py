"""The shop: http://shop.test"""

from __future__ import annotations

from pathlib import Path

from envservers.webarena.sites.common.page_site import PageSite
from envservers.webarena.sites.shop.layout import layout
from envservers.webarena.sites.shop.routes import ROUTES

SITE = PageSite(host="shop.test", folder=Path(__file__).parent, routes=ROUTES, layout=layout)
