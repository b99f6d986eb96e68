"""The shop's administration: http://admin.shop.test"""

from __future__ import annotations

from pathlib import Path

from envservers.webarena.sites.admin.layout import layout
from envservers.webarena.sites.admin.permissions import guard
from envservers.webarena.sites.admin.routes import ROUTES
from envservers.webarena.sites.common.page_site import PageSite

SITE = PageSite(host="admin.shop.test", folder=Path(__file__).parent, routes=ROUTES, layout=layout, guard=guard)
