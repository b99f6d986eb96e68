"""What a solution looks like whatever its slots: actions with roles and routes. Templates that count differ in it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from urllib.parse import urlsplit

from envservers.webarena.sites.common.routing import Router
from envservers.webarena.sites.registry import sites
from envservers.webarena.tasks.observed import read_lines

URL = re.compile(r"^URL: (.*)$", re.MULTILINE)


def part(observation: str, action: str) -> tuple[str, str]:
    """`click link @shop.test:search`: an action as it was done on an observation; and the element's name."""
    verb = action.partition(" ")[0]
    number = re.match(r"\w+ \[(\d+)\]", action)
    lines = {line.id: line for line in read_lines(observation)} if number and verb != "tab_focus" else {}
    line = lines.get(int(number[1])) if number else None
    url = URL.search(observation)
    words = (verb, line.role if line else "", f"@{route_of(url[1] if url else '')}")
    return " ".join(word for word in words if word), line.name if line else ""


def signature(parts: Sequence[tuple[str, str]]) -> str:
    """The parts in order, scrolls left out; the same element again, as in turning pages, counts once."""
    kept = [each for each in parts if not each[0].startswith("scroll")]
    return " > ".join(text for text, _ in (each for n, each in enumerate(kept) if n == 0 or kept[n - 1] != each))


def route_of(url: str) -> str:
    """`shop.test:product` of a page's address."""
    split = urlsplit(url)
    router = _routers().get(split.netloc)
    match = router.match("GET", split.path or "/") if router else None
    return f"{split.netloc}:{match.route.name if match else '?'}"


@cache
def _routers() -> dict[str, Router]:
    return {host: Router(site.routes) for host, site in sites().items() if hasattr(site, "routes")}
