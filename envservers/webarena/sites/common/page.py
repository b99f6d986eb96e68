"""One request as a page function sees it."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode, urlsplit

from envservers.webarena.site import Now, SiteRequest, SiteResponse
from envservers.webarena.sites.common import logins, notes, tokens
from envservers.webarena.sites.common.forms import Draft, Form
from envservers.webarena.sites.common.routing import Route
from envservers.webarena.state.database import Db, Row

if TYPE_CHECKING:
    from envservers.webarena.sites.common.page_site import PageSite


class Page:
    """What a page function reads, and the answers that it gives."""

    def __init__(
        self, site: PageSite, route: Route | None, params: dict[str, Any], request: SiteRequest, db: Db, now: Now
    ) -> None:
        self.site = site
        self.route = route
        self.params = params
        """What stands in the places of the route's pattern."""
        self.request = request
        self.db = db
        self.now = now
        self.path = request.path
        self._query = dict(reversed(request.query))  # the first of equal names holds
        self._form = dict(reversed(request.form))

    @cached_property
    def customer(self) -> Row | None:
        """Who is logged in as a customer."""
        return logins.current_customer(self.db, self.request.cookies)

    @cached_property
    def admin(self) -> Row | None:
        """Who is logged in as an admin user."""
        return logins.current_admin(self.db, self.request.cookies)

    @property
    def today(self) -> str:
        """`YYYY-MM-DD`"""
        return self.now.time[:10]

    def asked(self, name: str, otherwise: str = "") -> str:
        """A value of the query."""
        return self._query.get(name, otherwise)

    def sent(self, name: str, otherwise: str = "") -> str:
        """A value of the form, as it came."""
        return self._form.get(name, otherwise)

    def here(self, **changes: str | int | None) -> str:
        """This page's address with some values of the query changed; None and empty remove."""
        values = {name: text for name, text in reversed(self._query.items()) if name not in changes}
        values |= {name: str(value) for name, value in changes.items() if value not in (None, "")}
        return address(self.path, **values)

    def token(self, action: str) -> str:
        """The one-use token of a form that is sent to a path."""
        return tokens.issue(self.now, action)

    def flash(self, text: str, kind: notes.Kind = "success", *, link: str = "", label: str = "") -> None:
        """Show a message on the next page of this site."""
        notes.put_flash(self.db, self.request.host, notes.Flash(kind=kind, text=text, link=link, label=label))

    def flashes(self) -> list[notes.Flash]:
        """The messages that wait for this page."""
        return notes.take_flashes(self.db, self.request.host)

    def draft(self, name: str = "") -> Draft:
        """What was refused and sent back to this page."""
        return notes.take_draft(self.db, f"{self.request.host}{self.path}#{name}")

    def render(self, template: str, *, status: int = 200, **values: Any) -> SiteResponse:
        """A page."""
        return SiteResponse(status=status, body=self.site.render(self, template, values))

    def go(self, path: str, *, cookies: tuple[tuple[str, str], ...] = (), **query: str | int | None) -> SiteResponse:
        """See another page."""
        return SiteResponse(status=303, location=address(path, **query) if query else path, cookies=cookies)

    def refuse(self, form: Form, path: str, name: str = "") -> SiteResponse:
        """Back to the form's page at `path`, which shows the draft and what is wrong with it."""
        notes.put_draft(self.db, f"{self.request.host}{urlsplit(path).path}#{name}", form)
        return self.go(path)

    def back(self, otherwise: str) -> SiteResponse:
        """See the page again from which the form came."""
        return self.go(self.came_from(otherwise))

    def came_from(self, otherwise: str) -> str:
        """Path and query of the page of this site that led here."""
        parts = urlsplit(self.request.referer)
        if parts.hostname != self.request.host or not local(parts.path):
            return otherwise
        return parts.path + (f"?{parts.query}" if parts.query else "")

    def not_found(self) -> SiteResponse:
        """The 404 page; from a form, see it at the same path."""
        if self.request.method == "POST":
            return self.go("/not-found")
        return self.render("not_found.html", status=404)


def address(path: str, **query: str | int | None) -> str:
    """A path with a query; None and empty values are left out."""
    kept = [(name, value) for name, value in query.items() if value not in (None, "")]
    return path + ("?" + urlencode(kept, quote_via=quote, safe="/") if kept else "")


def local(path: str) -> bool:
    """Whether a redirect may go there: a path of this site."""
    return path.startswith("/") and not path.startswith("//") and "\\" not in path
