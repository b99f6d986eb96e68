"""Pages of other packages under paths of their own: the entry-point group `agentenv.web`, whose names are the paths and
whose objects make ASGI applications. One is loaded when it is first asked for, behind the guard of everything else.
"""

from __future__ import annotations

import asyncio
import logging
from importlib.metadata import Distribution, EntryPoint
from typing import TYPE_CHECKING

from starlette.routing import Mount

from agentenv.errors import AgentEnvError, EnvUnavailable
from agentenv.plugins import entry_points, load_point
from agentenv.server.app import write
from agentenv.server.sessions import failure

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

GROUP = "agentenv.web"

log = logging.getLogger("agentenv.server")


def mounts() -> list[Mount]:
    """A route for each of the group, such as `/eval`."""
    return [Mount(f"/{name}", app=Mounted(name, point, dist)) for name, (point, dist) in entry_points(GROUP).items()]


class Mounted:
    """An application that is made at its first request, in a thread: it may take a while to import."""

    def __init__(self, name: str, point: EntryPoint, dist: Distribution) -> None:
        self.name = name
        self._point, self._dist = point, dist
        self._app: ASGIApp | None = None
        self._loading = asyncio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on; 503 says why the application cannot be made, and the next request tries again."""
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
            made: ASGIApp = load_point(self._point, self._dist)()
        except AgentEnvError:
            raise
        except Exception as exc:  # a stranger's module may raise anything
            log.exception("the pages at /%s", self.name)
            raise EnvUnavailable(f"the pages at /{self.name} cannot be shown: {type(exc).__name__}") from exc
        return made
