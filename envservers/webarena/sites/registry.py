"""Which sites there are. A site is a folder beside this file with an object `SITE`."""

from __future__ import annotations

import importlib
from functools import cache

from envservers.webarena.site import Site

FOLDERS = ("shop", "admin", "home")


@cache
def sites() -> dict[str, Site]:
    """Every site by its host."""
    found = [importlib.import_module(f"envservers.webarena.sites.{name}").SITE for name in FOLDERS]
    return {site.host: site for site in found}
