"""A site made of a route table, templates and a theme."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any

from envservers.webarena.site import Now, SiteRequest, SiteResponse
from envservers.webarena.sites.common import tokens
from envservers.webarena.sites.common.assets import Assets
from envservers.webarena.sites.common.page import Page, address
from envservers.webarena.sites.common.routing import Route, Router
from envservers.webarena.sites.common.tokens import Verdict
from envservers.webarena.state.database import Db

SITES = Path(__file__).parents[1]


class PageSite:
    """Answers requests by page functions. Holds nothing of a session."""

    def __init__(
        self,
        *,
        host: str,
        folder: Path,
        routes: tuple[Route, ...],
        layout: Callable[[Page], dict[str, Any]],
        log_in_path: str = "/login",
        guard: Callable[[Page, Route], SiteResponse | None] = lambda page, route: None,
    ) -> None:
        """`layout` gives the values that the site's layout shows on every page; `guard` may refuse a page to a role."""
        self.host = host
        self.routes = routes + COMMON_ROUTES
        self._folder = folder
        self._layout = layout
        self._log_in_path = log_in_path
        self._guard = guard
        self._router = Router(self.routes)

    @cached_property
    def assets(self) -> Assets:
        """The files below `/static/`."""
        return Assets(SITES / "static", self._folder / "theme.css")

    @cached_property
    def _templates(self) -> Any:
        from envservers.webarena.sites.common.templates import environment

        return environment((self._folder / "templates", SITES / "templates"), self.assets)

    def handle(self, request: SiteRequest, db: Db, now: Now) -> SiteResponse:
        """Answer a request; a POST is always answered by 303."""
        if request.method == "GET" and request.path.startswith("/static/"):
            return self.assets.answer(request.path) or Page(self, None, {}, request, db, now).not_found()
        if request.method not in ("GET", "POST"):
            return SiteResponse(status=405, body=b"method not allowed", content_type="text/plain; charset=utf-8")
        match = self._router.match(request.method, request.path)
        if match is None:
            return self._unknown(request, db, now)
        page = Page(self, match.route, match.params, request, db, now)
        if request.method == "POST":
            refused = _refuse_token(page)
            if refused:
                return refused
        refused = self._keep_out(page, match.route) or self._guard(page, match.route)
        return refused or match.route.page(page)

    def render(self, page: Page, template: str, values: dict[str, Any]) -> bytes:
        """The bytes of a page."""
        shown = {"page": page, "flashes": page.flashes(), **self._layout(page), **values}
        text: str = self._templates.get_template(template).render(shown)
        return text.encode()

    def _unknown(self, request: SiteRequest, db: Db, now: Now) -> SiteResponse:
        page = Page(self, None, {}, request, db, now)
        trimmed = request.path.rstrip("/")
        if request.method == "GET" and trimmed != request.path and self._router.match("GET", trimmed):
            return page.go(address(trimmed, **dict(request.query)))
        return page.not_found()

    def _keep_out(self, page: Page, route: Route) -> SiteResponse | None:
        if (route.needs == "customer" and page.customer is None) or (route.needs == "admin" and page.admin is None):
            wanted = page.here() if route.method == "GET" else page.came_from("/")
            return page.go(self._log_in_path, next=wanted)
        return None


def _refuse_token(page: Page) -> SiteResponse | None:
    verdict = tokens.spend(page.db, page.now, page.path, page.sent(tokens.FIELD))
    if verdict is Verdict.FRESH:
        return None
    return page.go("/already-sent" if verdict is Verdict.SPENT else "/form-expired")


def _show_already_sent(page: Page) -> SiteResponse:
    return page.render("already_sent.html")


def _show_form_expired(page: Page) -> SiteResponse:
    return page.render("form_expired.html")


def _show_not_found(page: Page) -> SiteResponse:
    return page.not_found()


COMMON_ROUTES = (
    Route(method="GET", pattern="/already-sent", name="already_sent", page=_show_already_sent),
    Route(method="GET", pattern="/form-expired", name="form_expired", page=_show_form_expired),
    Route(method="GET", pattern="/not-found", name="not_found", page=_show_not_found),
)
