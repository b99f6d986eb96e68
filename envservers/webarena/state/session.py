"""The sites as one session has them: requests go to the site of their host, over the session's database and time."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from envservers.webarena.site import Now, Pairs, Site, SiteRequest, SiteResponse
from envservers.webarena.state.database import Db

SECONDS_PER_STEP = 60
MISDIRECTED = SiteResponse(status=421, body=b"no such site", content_type="text/plain; charset=utf-8")


@dataclass(frozen=True, slots=True, kw_only=True)
class Logged:
    """One request and how it was answered."""

    step: int
    method: str
    host: str
    path: str
    query: Pairs
    form: Pairs
    status: int
    location: str


class SiteSession:
    """What engines browse. One call at a time."""

    def __init__(
        self, sites: Mapping[str, Site], db: Db, *, starts_at: str, secret: bytes, step: Callable[[], int]
    ) -> None:
        self.sites = sites
        self.db = db
        self.log: list[Logged] = []
        self._starts_at = datetime.datetime.fromisoformat(starts_at)
        self._secret = secret
        self._step = step

    def now(self) -> Now:
        """Session time at the current step."""
        step = self._step()
        time = self._starts_at + datetime.timedelta(seconds=SECONDS_PER_STEP * step)
        return Now(time=time.strftime("%Y-%m-%d %H:%M:%S"), step=step, secret=self._secret)

    def handle(self, request: SiteRequest) -> SiteResponse:
        """Answer, and log what is no asset; a host that is no site is 421."""
        site = self.sites.get(request.host)
        if site is None:
            return MISDIRECTED
        now = self.now()
        response = site.handle(request, self.db, now)
        if not response.immutable:
            self.log.append(
                Logged(
                    step=now.step,
                    method=request.method,
                    host=request.host,
                    path=request.path,
                    query=request.query,
                    form=request.form,
                    status=response.status,
                    location=response.location,
                )
            )
        return response
