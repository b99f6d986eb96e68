"""An HTTP server that is no agentenv server: each answer is written in the test."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from aiohttp import web

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class ForeignServer:
    """Use as `async with ForeignServer(handler) as server`; `requests` counts what came by path."""

    def __init__(self, handler: Handler) -> None:
        self.requests: list[str] = []
        self._handler = handler

    async def __aenter__(self) -> ForeignServer:
        app = web.Application(client_max_size=64 * 1024 * 1024)
        app.router.add_route("*", "/{path:.*}", self._answer)
        self._runner = web.AppRunner(app, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}"
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self._runner.cleanup()

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        self.requests.append(request.path)
        return await self._handler(request)


def always(status: int, text: str, kind: str = "text/html", **headers: str) -> Handler:
    """The same answer to everything."""

    async def handler(request: web.Request) -> web.StreamResponse:
        return web.Response(status=status, text=text, content_type=kind, headers=headers)

    return handler


async def silent(request: web.Request) -> web.StreamResponse:
    """No answer at all."""
    await asyncio.sleep(60.0)
    return web.Response()
