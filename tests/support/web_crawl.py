"""Following every link of a site, and pressing every kind of button, as one person after another."""

from __future__ import annotations

from collections import deque
from functools import cache
from urllib.parse import urljoin, urlsplit

from web_browsing import Browser, filled

from envservers.webarena.sites.common.page_site import PageSite
from envservers.webarena.sites.common.routing import Router


def crawl(browser: Browser, site: PageSite, start: str, *, per_route: int, most: int = 4000) -> dict[str, list[str]]:
    """Open pages from `start` on, at most `per_route` of a route; the URLs seen of each route, and what is wrong.

    Every link found is asked for once, whether its page is then read or not. Key `faults`: links that led nowhere.
    """
    waiting, known = deque([start]), {start}
    read: dict[str, list[str]] = {"faults": []}
    asked = 0
    while waiting and asked < most:
        url = waiting.popleft()
        name = route_of(site, url)
        if name is None:
            read["faults"].append(f"{url} is no page")
            continue
        if len(read.setdefault(name, [])) >= per_route:
            continue
        asked += 1
        browser.get(url)
        if browser.response.status != 200:
            read["faults"].append(f"{url} answered {browser.response.status}")
            continue
        for reached in {name, route_of(site, browser.url) or name}:
            read.setdefault(reached, []).append(url)
        for link in links(browser):
            if link not in known:
                known.add(link)
                waiting.append(link)
    return read


def links(browser: Browser) -> list[str]:
    """Addresses on the page that one can go to, forms that ask included."""
    page = browser.page
    found = [urljoin(browser.url, a.get("href")) for a in page.iter("a")]
    for form in page.iter("form"):
        if form.get("method") == "get":
            found.append(urljoin(browser.url, form.get("action")))
    return list(dict.fromkeys(found))


def forms(browser: Browser) -> list[tuple[str, list[tuple[str, str]]]]:
    """Forms on the page that change something: where they go, and what is sent as they stand, by every button."""
    found = []
    for form in browser.page.iter("form"):
        if form.get("method") == "post":
            for button in form.iter("button"):
                pairs = filled(form, {})
                if button.get("name"):
                    pairs.append((button.get("name"), button.get("value")))
                found.append((urljoin(browser.url, form.get("action")), pairs))
    return found


def route_of(site: PageSite, url: str, method: str = "GET") -> str | None:
    """Method and pattern of the route that answers a URL."""
    parts = urlsplit(url)
    if parts.hostname != site.host:
        return None
    match = _router(site.routes).match(method, parts.path or "/")
    return f"{method} {match.route.pattern}" if match else None


_router = cache(Router)
