"""Which sites there are. A site is a folder beside this file with an object `SITE`."""

from __future__ import annotations

import importlib
from functools import cache
from importlib.util import find_spec

from envservers.webarena.site import Site

FOLDERS = ("shop", "admin", "home")


@cache
def sites() -> dict[str, Site]:
    """Every site by its host; a folder that was left out of an installation has none."""
    return {site.host: site for site in by_folder().values()}


def by_folder() -> dict[str, Site]:
    """Every site by the name of its folder."""
    names = [name for name in FOLDERS if find_spec(f"{__package__}.{name}")]
    return {name: importlib.import_module(f"{__package__}.{name}").SITE for name in names}
