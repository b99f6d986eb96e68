"""The homepage: http://home.test"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from envservers.webarena.sites.common.page import Page
from envservers.webarena.sites.common.page_site import PageSite
from envservers.webarena.sites.home.routes import ROUTES


def layout(page: Page) -> dict[str, Any]:
    """Values of the template `layout.html`."""
    return {"favicon": "home.svg"}


SITE = PageSite(host="home.test", folder=Path(__file__).parent, routes=ROUTES, layout=layout)
