"""A plain browser for the tests of sites: cookies, redirects, links and forms by what a reader sees, no engine."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urljoin, urlsplit

from lxml import html
from web_worlds import shared_world

from envservers.webarena.site import Pairs, Site, SiteRequest, SiteResponse
from envservers.webarena.sites.common.logins import log_in
from envservers.webarena.state.database import Db
from envservers.webarena.state.session import SiteSession

SECRET = b"a secret of the tests"
STARTS_AT = "2026-03-02 09:00:00"


class Browser:
    """One session on a small world. Every request is a step."""

    def __init__(self, folder: Path, sites: dict[str, Site], host: str, *, seed: int = 0, size: str = "small") -> None:
        self.db = Db(shared_world(seed, size), folder / "session.db")
        self.step = 0
        self.session = SiteSession(sites, self.db, starts_at=STARTS_AT, secret=SECRET, step=lambda: self.step)
        self.cookies: dict[str, dict[str, str]] = {}
        self.url = f"http://{host}/"
        self.response = SiteResponse()
        self.seen: Callable[[str, SiteResponse], None] = lambda url, response: None

    def log_in(self, host: str, *, customer: int | None = None, admin: int | None = None) -> None:
        """As the environment does it."""
        self.cookies.setdefault(host, {})["sid"] = log_in(self.db, self.session.now(), customer=customer, admin=admin)

    def get(self, url: str) -> SiteResponse:
        """Open a page and follow where it leads."""
        return self._follow("GET", urljoin(self.url, url), ())

    def post(self, url: str, *pairs: tuple[str, str]) -> SiteResponse:
        """Send a form and follow where it leads."""
        return self._follow("POST", urljoin(self.url, url), pairs)

    def ask(self, method: str, url: str, form: Pairs = ()) -> SiteResponse:
        """One request, nothing followed; cookies are kept."""
        parts = urlsplit(url)
        host = parts.hostname or ""
        response = self.session.handle(
            SiteRequest(
                method=method,
                host=host,
                path=unquote(parts.path) or "/",
                query=tuple(parse_qsl(parts.query, keep_blank_values=True)),
                form=form,
                cookies=dict(self.cookies.get(host, {})),
                referer=self.url,
            )
        )
        jar = self.cookies.setdefault(host, {})
        for name, value in response.cookies:
            if value:
                jar[name] = value
            else:
                jar.pop(name, None)
        self.seen(url, response)
        return response

    def click(self, link: str, nth: int = 0) -> SiteResponse:
        """Follow the link with this text."""
        hrefs = [a.get("href") for a in self.page.iter("a") if text_of(a) == link]
        assert hrefs, f"no link {link!r} on {self.url}: {sorted({text_of(a) for a in self.page.iter('a')})}"
        return self.get(hrefs[nth])

    def submit(self, button: str, nth: int = 0, **fields: str) -> SiteResponse:
        """Fill in the form that has this button, by field names, and press it."""
        buttons = [one for one in self.page.iter("button") if text_of(one) == button]
        assert buttons, f"no button {button!r} on {self.url}: {[text_of(b) for b in self.page.iter('button')]}"
        pressed = buttons[nth]
        form = next(pressed.iterancestors("form"))
        pairs = filled(form, fields)
        if pressed.get("name"):
            pairs.append((pressed.get("name"), pressed.get("value")))
        url = urljoin(self.url, form.get("action"))
        if form.get("method") == "get":
            from urllib.parse import urlencode

            return self.get(url + "?" + urlencode(pairs))
        return self._follow("POST", url, tuple(pairs))

    @property
    def page(self) -> html.HtmlElement:
        """The document shown."""
        return html.document_fromstring(self.response.body.decode())

    @property
    def text(self) -> str:
        """What one reads in the main part."""
        return text_of(next(self.page.iter("main")))

    @property
    def path(self) -> str:
        """Path and query of the page shown."""
        parts = urlsplit(self.url)
        return parts.path + (f"?{parts.query}" if parts.query else "")

    def _follow(self, method: str, url: str, form: Pairs) -> SiteResponse:
        self.step += 1
        for _ in range(8):
            response = self.ask(method, url, form)
            if response.status != 303:
                break
            url, method, form = urljoin(url, response.location), "GET", ()
        self.url, self.response = url, response
        return response


def filled(form: html.HtmlElement, fields: dict[str, str]) -> list[tuple[str, str]]:
    """What a browser would send, some fields typed over; a checkbox is ticked by any text, cleared by none."""
    pairs: list[tuple[str, str]] = []
    names = set()
    for control in form.iter("input", "select", "textarea"):
        name, kind = control.get("name"), control.get("type")
        if not name or control.get("disabled") is not None:
            continue
        names.add(name)
        if control.tag == "select":
            chosen = [o for o in control.iter("option") if o.get("selected") is not None] or list(
                control.iter("option")
            )
            value: str | None = fields.get(name, chosen[0].get("value"))
            assert value in [o.get("value") for o in control.iter("option")], f"{name} offers no {value!r}"
        elif control.tag == "textarea":
            value = fields.get(name, (control.text or "").removeprefix("\n"))
        elif kind == "radio":
            wanted = fields.get(name)
            ticked = control.get("value") == wanted if wanted is not None else control.get("checked") is not None
            value = control.get("value") if ticked else None
        elif kind == "checkbox":
            ticked = bool(fields[name]) if name in fields else control.get("checked") is not None
            value = control.get("value") if ticked else None
        else:
            value = fields.get(name, control.get("value", ""))
        if value is not None:
            pairs.append((name, value))
    assert set(fields) <= names, f"no field {set(fields) - names}"
    return pairs


def text_of(element: html.HtmlElement) -> str:
    """Its text, white space collapsed."""
    return " ".join(element.text_content().split())
