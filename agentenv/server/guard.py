"""Who may call: the token, the Host and the Origin of every request, before any route.

Loopback needs no token. Foreign hosts are refused so that a web page cannot reach a local server by a name that
resolves to loopback; foreign origins, so that a web page cannot call it at all.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterable
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from agentenv.errors import AgentEnvError, ForeignHost, ForeignOrigin, Unauthorized
from agentenv.wire import Problem, encode_problem

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]"})
OPEN_PATHS = frozenset({"/healthz", "/readyz"})


def is_loopback(host: str) -> bool:
    """Whether a host to bind is reachable from this machine alone."""
    return host in ("localhost", "::1") or host.startswith("127.")


class Guard:
    """ASGI middleware that refuses with a problem document, or closes a socket before it opens."""

    def __init__(self, app: ASGIApp, *, hosts: Iterable[str], token: str | None) -> None:
        self.app = app
        self.hosts = frozenset(hosts) | LOOPBACK
        self.token = token.encode() if token else None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the request through, or refuse it."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        try:
            self._check(scope)
        except AgentEnvError as exc:
            await _refuse(exc, scope, receive, send)
            return
        await self.app(scope, receive, send)

    def _check(self, scope: Scope) -> None:
        host = origin = authorization = None
        for name, value in scope["headers"]:
            if name == b"host":
                host = value
            elif name == b"origin":
                origin = value
            elif name == b"authorization":
                authorization = value
        name = _name_of(host)
        if name not in self.hosts:
            raise ForeignHost(f"host {name!r} is not served here; it answers to {', '.join(sorted(self.hosts))}")
        if origin is not None and not self._own(origin.decode("latin-1")):
            raise ForeignOrigin(f"pages of {origin.decode('latin-1')!r} may not call this server")
        if self.token is not None and scope["path"] not in OPEN_PATHS:
            wanted = b"Bearer " + self.token
            if not hmac.compare_digest(authorization or b"", wanted):
                raise Unauthorized("missing or wrong token; send `Authorization: Bearer TOKEN`")

    def _own(self, origin: str) -> bool:
        host = urlsplit(origin).hostname
        return host is not None and (host in self.hosts or f"[{host}]" in self.hosts)


def _name_of(host: bytes | None) -> str:
    text = (host or b"").decode("latin-1").lower()
    return text if text.endswith("]") else text.rpartition(":")[0] or text if ":" in text else text


async def _refuse(error: AgentEnvError, scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 1008, "reason": error.code})
        return
    body = encode_problem(Problem.of(error))
    start: Message = {
        "type": "http.response.start",
        "status": error.status,
        "headers": [(b"content-type", b"application/problem+json"), (b"content-length", str(len(body)).encode())],
    }
    await send(start)
    await send({"type": "http.response.body", "body": body})
