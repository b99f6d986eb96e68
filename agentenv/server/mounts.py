"""Pages of other packages under paths of their own: the entry-point group `agentenv.web`, whose names are the paths and
whose objects make ASGI applications, `(Served) -> ASGIApp`. One is loaded when it is first asked for.

The guard lets nothing pass from foreign hosts and origins, but it asks for no token here, so that a browser can look:
whatever changes something or uses sessions has to ask for `Served.token` itself.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, field
from importlib.metadata import Distribution, EntryPoint
from typing import TYPE_CHECKING

from starlette.routing import Mount

from agentenv.errors import AgentEnvError, EnvUnavailable
from agentenv.plugins import entry_points, load_point
from agentenv.server.app import write
from agentenv.server.sessions import Sessions, failure

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

GROUP = "agentenv.web"

log = logging.getLogger("agentenv.server")


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """The server that an application is mounted on."""

    sessions: Sessions
    token: str | None = field(repr=False)
    """What callers must know who do more than look; None where everybody may."""


def mounts(served: Served) -> list[Mount]:
    """A route for each of the group, such as `/eval`."""
    found = entry_points(GROUP).items()
    return [Mount(f"/{name}", app=Mounted(name, point, dist, served)) for name, (point, dist) in found]


class Mounted:
    """An application that is made at its first request, in a thread: it may take a while to import."""

    def __init__(self, name: str, point: EntryPoint, dist: Distribution, served: Served) -> None:
        self.name, self._served = name, served
        self._point, self._dist = point, dist
        self._app: ASGIApp | None = None
        self._loading = asyncio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on; where the application cannot be made, say why, and try again at the next one."""
        try:
            async with self._loading:
                if self._app is None:
                    self._app = await asyncio.to_thread(self._load)
        except AgentEnvError as exc:
            await write(failure(exc))(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _load(self) -> ASGIApp:
        try:
            made: ASGIApp = load_point(self._point, self._dist)(self._served)
        except AgentEnvError:
            raise
        except Exception as exc:  # a stranger's module may raise anything
            log.exception("the pages at /%s", self.name)
            raise EnvUnavailable(f"the pages at /{self.name} cannot be shown: {type(exc).__name__}") from exc
        return made
