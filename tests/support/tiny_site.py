"""A site of a few fixed pages, for tests of engines: what it serves is given, what it was asked is kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from envservers.webarena.site import Now, SiteRequest, SiteResponse
from envservers.webarena.state.database import Db
from envservers.webarena.state.session import SiteSession

Answer = str | SiteResponse | Callable[[SiteRequest], SiteResponse]


class TinySite:
    """Pages by path; a text is the body of an HTML page with a title."""

    def __init__(self, pages: Mapping[str, Answer], host: str = "shop.test") -> None:
        self.host = host
        self.pages = dict(pages)
        self.asked: list[SiteRequest] = []

    def handle(self, request: SiteRequest, db: Db, now: Now) -> SiteResponse:
        self.asked.append(request)
        answer = self.pages.get(request.path)
        if answer is None:
            return page("<h1>Not found</h1>", title="Not found", status=404)
        if callable(answer):
            return answer(request)
        return answer if isinstance(answer, SiteResponse) else page(answer)


def page(body: str, *, title: str = "Page", status: int = 200) -> SiteResponse:
    text = f"<!DOCTYPE html><html lang=en><head><title>{title}</title></head><body>{body}</body></html>"
    return SiteResponse(status=status, body=text.encode())


def script(text: str) -> SiteResponse:
    """A file of JavaScript; pages run no other."""
    return SiteResponse(body=text.encode(), content_type="text/javascript; charset=utf-8")


def see_other(location: str) -> SiteResponse:
    return SiteResponse(status=303, location=location)


def tiny_session(folder: Path, *sites: TinySite, step: Callable[[], int] = lambda: 0) -> SiteSession:
    """A session over these sites and an empty database."""
    base = folder / "base.db"
    base.touch()
    db = Db(base, folder / "copy.db")
    by_host = {site.host: site for site in sites}
    return SiteSession(by_host, db, starts_at="2026-03-02 09:00:00", secret=b"secret", step=step)
