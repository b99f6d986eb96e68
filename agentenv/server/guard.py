"""Who may call: the token, the Host and the Origin of every request, before any route.

Loopback needs no token. Foreign hosts are refused so that a web page cannot reach a local server by a name that
resolves to loopback; foreign origins, so that a web page cannot call it at all.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Iterable
from ipaddress import ip_address
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from agentenv.errors import AgentEnvError, ForeignHost, ForeignOrigin, Unauthorized
from agentenv.wire import Problem, encode_problem

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]"})
OPEN_PATHS = frozenset({"/healthz", "/readyz"})
HOST = re.compile(r"(?P<name>\[[0-9a-f:.]+\]|[^:\[\]]+)(:[0-9]*)?")


def is_loopback(host: str) -> bool:
    """Whether a host to bind is reachable from this machine alone."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class Guard:
    """ASGI middleware that refuses with a problem document, or closes a socket before it opens."""

    def __init__(
        self, app: ASGIApp, *, hosts: Iterable[str], token: str | None, open_under: Iterable[str] = ()
    ) -> None:
        self.app = app
        self._open_under = tuple(f"{path}/" for path in open_under)
        """Paths that need no token, with whatever is below them."""
        self.hosts = frozenset(_shown(host) for host in hosts) | LOOPBACK
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
        if self.token is not None and not self._open(scope["path"]):
            scheme, _, given = (authorization or b"").partition(b" ")
            if scheme.lower() != b"bearer" or not hmac.compare_digest(given.strip(), self.token):
                raise Unauthorized("missing or wrong token; send `Authorization: Bearer TOKEN`")

    def _open(self, path: str) -> bool:
        return path in OPEN_PATHS or f"{path}/".startswith(self._open_under)

    def _own(self, origin: str) -> bool:
        try:
            host = urlsplit(origin).hostname
        except ValueError:
            return False
        return host is not None and _shown(host) in self.hosts


def _name_of(host: bytes | None) -> str:
    """The name in a Host header without its port; the whole where it is no host and port."""
    text = (host or b"").decode("latin-1").lower()
    match = HOST.fullmatch(text)
    return match["name"] if match else text


def _shown(host: str) -> str:
    """A host to bind as a Host header shows it."""
    return f"[{host}]".lower() if ":" in host and not host.startswith("[") else host.lower()


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
    if isinstance(error, Unauthorized):
        start["headers"].append((b"www-authenticate", b"Bearer"))
    await send(start)
    await send({"type": "http.response.body", "body": body})
