"""Which page function answers which path, as data."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from envservers.webarena.site import SiteResponse

if TYPE_CHECKING:
    from envservers.webarena.sites.common.page import Page

PageFunction = Callable[["Page"], SiteResponse]
Params = dict[str, "str | int"]

CONVERTERS: dict[str, tuple[str, Callable[[str], str | int]]] = {
    "int": (r"[1-9][0-9]{0,8}", int),
    "digits": (r"[0-9]{1,20}", str),
    "slug": (r"[a-z0-9][a-z0-9-]*", str),
    "word": (r"[a-z_]+", str),
}
"""Name of a converter: what it matches, and what it makes of it."""

_PLACE = re.compile(r"\{([a-z_]+):([a-z]+)\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """One line of a site's table."""

    method: Literal["GET", "POST"]
    pattern: str
    """`/orders/{number:digits}`"""
    name: str
    """What logs, tests and reports call it; a GET and a POST may share one."""
    page: PageFunction
    needs: Literal["", "customer", "admin"] = ""
    """Who may see it; everybody else goes to the log-in page."""
    area: str = ""
    """A permission that the site's guard asks for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """A route and what stands in its places."""

    route: Route
    params: Params


class Router:
    """Finds the route of a request."""

    def __init__(self, routes: Iterable[Route]) -> None:
        self._fixed: dict[tuple[str, str], Match] = {}
        self._open: dict[tuple[str, str, int], list[tuple[re.Pattern[str], dict[str, str], Route]]] = {}
        for route in routes:
            self._add(route)

    def match(self, method: str, path: str) -> Match | None:
        """The first route in the table's order; fixed paths come before patterns."""
        fixed = self._fixed.get((method, path))
        if fixed is not None:
            return fixed
        for pattern, kinds, route in self._open.get(_drawer(method, path), ()):
            found = pattern.fullmatch(path)
            if found:
                params = {name: CONVERTERS[kinds[name]][1](text) for name, text in found.groupdict().items()}
                return Match(route=route, params=params)
        return None

    def _add(self, route: Route) -> None:
        kinds = dict(_PLACE.findall(route.pattern))
        if not kinds:
            if (route.method, route.pattern) in self._fixed:
                raise ValueError(f"two routes answer {route.method} {route.pattern}")
            self._fixed[route.method, route.pattern] = Match(route=route, params={})
            return
        pieces = [
            re.escape(piece) if place % 3 == 0 else piece for place, piece in enumerate(_PLACE.split(route.pattern))
        ]
        for place in range(1, len(pieces), 3):
            name, kind = pieces[place], pieces[place + 1]
            pieces[place], pieces[place + 1] = f"(?P<{name}>{CONVERTERS[kind][0]})", ""
        key = _drawer(route.method, route.pattern)
        self._open.setdefault(key, []).append((re.compile("".join(pieces)), kinds, route))


def fill(pattern: str, **params: str | int) -> str:
    """The path of a pattern with its places filled."""
    return _PLACE.sub(lambda place: str(params[place[1]]), pattern)


def _drawer(method: str, path: str) -> tuple[str, str, int]:
    """Routes that could match lie in one drawer: same method, same first word, as many parts."""
    parts = path.split("/")
    return method, parts[1], len(parts)
