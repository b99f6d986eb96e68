"""The homepage's pages."""

from __future__ import annotations

from envservers.webarena.sites.common.routing import Route
from envservers.webarena.sites.home import pages

ROUTES = (
    Route(method="GET", pattern="/", name="home", page=pages.start),
    Route(method="GET", pattern="/accounts", name="accounts", page=pages.accounts),
    Route(method="GET", pattern="/calculator", name="calculator", page=pages.calculator),
    Route(method="GET", pattern="/scratchpad", name="scratchpad", page=pages.scratchpad),
    Route(method="POST", pattern="/scratchpad", name="scratchpad", page=pages.save_scratchpad),
    Route(method="POST", pattern="/scratchpad/clear", name="scratchpad_clear", page=pages.clear_scratchpad),
)
