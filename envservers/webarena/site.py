"""What a site is: a pure function from a request to a response, over a database and the session's time.

A site is a folder below `sites/`. Its pages never see a clock, a random number or the network.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from envservers.webarena.state.database import Db

Pairs = tuple[tuple[str, str], ...]
"""Names and values in the order of the request; a name may come twice."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteRequest:
    """One request of a browser."""

    method: str
    """GET or POST."""
    host: str
    path: str
    """Percent-decoded."""
    query: Pairs = ()
    form: Pairs = ()
    """The fields of an urlencoded body."""
    cookies: Mapping[str, str] = field(default_factory=dict)
    referer: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteResponse:
    """What a site answers."""

    status: int = 200
    body: bytes = b""
    content_type: str = "text/html; charset=utf-8"
    location: str = ""
    """With status 303."""
    cookies: Pairs = ()
    """Cookies to set, without Expires, path /; an empty value deletes."""
    immutable: bool = False
    """A hashed asset, which a browser may keep; everything else is `no-store`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Now:
    """Session time: the world's date plus 60 s a step, frozen during a step."""

    time: str
    """`YYYY-MM-DD HH:MM:SS`"""
    step: int
    """The session's step position, malformed ones too."""
    secret: bytes
    """Key of the session's HMACs (form tokens): from the task's seed."""


class Site(Protocol):
    """One site."""

    host: str
    """`shop.test`"""

    def handle(self, request: SiteRequest, db: Db, now: Now) -> SiteResponse:
        """Answer; under 5 ms, no I/O but `db`. Unknown paths are a 404 page; a POST always answers 303."""
