"""The sites for a person's own browser, at http://127.0.0.1:8077/ alone: a session of its own for each browser.

    python -m envservers.webarena.sites.open --seed 0 --size medium

A person's machine knows no host `shop.test`, so every site lies below a path: `/shop/`, `/admin/`. Addresses in pages
and style sheets are written over on their way out. A step is a request, so a minute passes with each page.
"""

from __future__ import annotations

import argparse
import html
import re
import secrets
import tempfile
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from envservers.webarena.site import Site, SiteRequest, SiteResponse
from envservers.webarena.sites.registry import by_folder
from envservers.webarena.state.database import Db
from envservers.webarena.state.session import SiteSession
from envservers.webarena.world.build import build_world
from envservers.webarena.world.world import World

VISITOR = "visitor"
"""The cookie that says whose session it is."""
MOST_SESSIONS = 16
LOCAL = ["127.0.0.1", "localhost", "testserver"]


class Visits:
    """Sessions by the browser's cookie; the oldest is dropped when there are too many."""

    def __init__(self, sites: Mapping[str, Site], world: Path, folder: Path) -> None:
        self.sites = sites
        """By the word that their path begins with."""
        self._by_host = {site.host: site for site in sites.values()}
        self._world = world
        self._starts_at = World(world).starts_at
        self._folder = folder
        self._made = 0
        self._sessions: dict[str, SiteSession] = {}
        self._steps: dict[str, int] = {}

    def session(self, visitor: str) -> tuple[str, SiteSession]:
        """The visitor's session one step on; a new one, with a new name, for who is not known."""
        if visitor not in self._sessions:
            visitor = secrets.token_urlsafe(16)
            while len(self._sessions) >= MOST_SESSIONS:
                self.end(next(iter(self._sessions)))
            self._made += 1
            self._steps[visitor] = 0
            self._sessions[visitor] = SiteSession(
                self._by_host,
                Db(self._world, self._folder / f"{self._made}.db"),
                starts_at=self._starts_at,
                secret=secrets.token_bytes(16),
                step=lambda: self._steps[visitor],
            )
        self._steps[visitor] += 1
        return visitor, self._sessions[visitor]

    def end(self, visitor: str) -> None:
        """Forget a session and all that it changed."""
        session = self._sessions.pop(visitor, None)
        if session is not None:
            session.db.close()
            del self._steps[visitor]


def make_app(visits: Visits) -> Starlette:
    """The app; it answers requests to loopback names only."""

    async def start(request: Request) -> Response:
        if request.method == "POST":
            visits.end(request.cookies.get(VISITOR, ""))
            return RedirectResponse("/", 303)
        visitor, session = visits.session(request.cookies.get(VISITOR, ""))
        response = HTMLResponse(_start_page(visits.sites, session))
        response.set_cookie(VISITOR, visitor, httponly=True, samesite="strict")
        return response

    async def answer(request: Request) -> Response:
        site = visits.sites.get(request.path_params["site"])
        if site is None:
            return Response("no such site", 404, media_type="text/plain")
        visitor, session = visits.session(request.cookies.get(VISITOR, ""))
        form = tuple(parse_qsl((await request.body()).decode(errors="replace"), keep_blank_values=True))
        path = "/" + request.path_params["path"]
        answered = session.handle(
            SiteRequest(
                method=request.method,
                host=site.host,
                path=path,
                query=tuple(request.query_params.multi_items()),
                form=form,
                cookies=_own_cookies(request, request.path_params["site"]),
                referer=_referer(request, site, request.path_params["site"]),
            )
        )
        response = _to_http(answered, request.path_params["site"], visits.sites)
        response.set_cookie(VISITOR, visitor, httponly=True, samesite="strict")
        return response

    return Starlette(
        routes=[
            Route("/", start, methods=["GET", "POST"]),
            Route("/{site}", lambda request: RedirectResponse(f"/{request.path_params['site']}/"), methods=["GET"]),
            Route("/{site}/{path:path}", answer, methods=["GET", "POST"]),
        ],
        middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=LOCAL)],
    )


def main() -> None:
    """Serve until interrupted."""
    import uvicorn

    parser = argparse.ArgumentParser(description="Open the sites in your own browser.")
    parser.add_argument("--port", type=int, default=8077)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--size", default="medium")
    chosen = parser.parse_args()
    world = build_world(chosen.seed, chosen.size)
    with tempfile.TemporaryDirectory(prefix="agentenv-sites-") as folder:
        visits = Visits(by_folder(), world, Path(folder))
        uvicorn.run(make_app(visits), host="127.0.0.1", port=chosen.port, access_log=False)


def written_over(text: bytes, name: str, sites: Mapping[str, Site]) -> bytes:
    """A page or style sheet of the site `name` with its addresses below that name."""
    own = rb'\1="/' + name.encode() + rb"/"
    text = re.sub(rb'\b(href|action|src)="/(?!/)', own, text)
    text = text.replace(b'url("/', b'url("/' + name.encode() + b"/")
    for other, site in sites.items():
        text = text.replace(f'"http://{site.host}/'.encode(), f'"/{other}/'.encode())
        text = text.replace(f'"http://{site.host}"'.encode(), f'"/{other}/"'.encode())
    return text


def _to_http(answer: SiteResponse, name: str, sites: Mapping[str, Site]) -> Response:
    body = answer.body
    if answer.content_type.startswith(("text/html", "text/css")):
        body = written_over(body, name, sites)
    response = Response(body, answer.status, headers={"Content-Type": answer.content_type})
    response.headers["Cache-Control"] = "public, max-age=31536000, immutable" if answer.immutable else "no-store"
    if answer.location:
        response.headers["Location"] = f"/{name}{answer.location}"
    for cookie, value in answer.cookies:
        if value:
            response.set_cookie(f"{name}-{cookie}", value, httponly=True, samesite="lax")
        else:
            response.delete_cookie(f"{name}-{cookie}")
    return response


def _own_cookies(request: Request, name: str) -> dict[str, str]:
    """Cookies of one site; those of all sites lie under one host here."""
    start = f"{name}-"
    return {cookie.removeprefix(start): value for cookie, value in request.cookies.items() if cookie.startswith(start)}


def _referer(request: Request, site: Site, name: str) -> str:
    parts = urlsplit(request.headers.get("referer", ""))
    if not parts.path.startswith(f"/{name}/"):
        return ""
    return f"http://{site.host}{parts.path.removeprefix(f'/{name}')}" + (f"?{parts.query}" if parts.query else "")


def _start_page(sites: Mapping[str, Site], session: SiteSession) -> str:
    shopper = session.db.one("SELECT email, password FROM customer WHERE id = 1")
    manager = session.db.one("SELECT username, password FROM admin_user WHERE id = 1")
    links = "".join(f'<li><a href="/{name}/">{html.escape(site.host)}</a></li>' for name, site in sites.items())
    people = "".join(
        f"<li>{who}: {html.escape(row[0])}, password {html.escape(row[1])}</li>"
        for who, row in (("Customer", shopper), ("Manager of the shop", manager))
        if row
    )
    return (
        '<!doctype html><html lang="en"><head><title>Sites</title></head><body><h1>Sites</h1>'
        f"<ul>{links}</ul><h2>Who one can be</h2><ul>{people}</ul>"
        '<form method="post" action="/"><button type="submit">Start afresh: forget what was changed</button></form>'
        "</body></html>"
    )


if __name__ == "__main__":
    main()
