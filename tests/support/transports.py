"""Transports for tests: HTTP into an application without a socket, and one that loses and doubles calls."""

import asyncio
from collections.abc import Callable, Iterator, Sequence

import httpx

from agentenv.client.codec import decode_reply
from agentenv.client.http import request_of
from agentenv.client.transport import Transport
from agentenv.errors import TransportLost
from agentenv.server.app import make_app
from agentenv.server.sessions import Sessions
from agentenv.wire import Call, Reply


class AsgiTransport:
    """The HTTP doors of an application in this process, by httpx: every byte of the wire, no socket."""

    address = "http://testserver"

    def __init__(self, sessions: Sessions, *, token: str | None = None) -> None:
        app = make_app(sessions, hosts=("testserver",), token=token)
        headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})
        self.client = httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url=self.address, headers=headers)

    async def exchange(self, calls: Sequence[Call], timeout_s: float) -> list[Reply]:
        replies = []
        for call in calls:
            method, path, body = request_of(call)
            response = await self.client.request(method, path, content=body)
            retry = response.headers.get("Retry-After")
            replies.append(decode_reply(call, response.status_code, response.content, float(retry) if retry else None))
        return replies

    async def get_json(self, path: str) -> bytes:
        return (await self.client.get(path)).content

    async def close(self) -> None:
        await self.client.aclose()


FAULTS = ("none", "request lost", "reply lost", "doubled", "doubled at once", "reply late")


class FaultyTransport:
    """Wraps a transport and breaks its exchanges as a script says; what was not asked for works."""

    def __init__(self, inner: Transport, faults: Callable[[], str] | Iterator[str]) -> None:
        self.inner = inner
        self.address = inner.address
        self._faults = faults
        self._late: list[Sequence[Call]] = []

    def _next(self) -> str:
        return self._faults() if callable(self._faults) else next(self._faults, "none")

    async def exchange(self, calls: Sequence[Call], timeout_s: float) -> list[Reply]:
        match self._next():
            case "request lost":
                raise TransportLost("lost on the way there")
            case "reply lost":
                await self.inner.exchange(calls, timeout_s)
                raise TransportLost("lost on the way back")
            case "doubled":
                await self.inner.exchange(calls, timeout_s)
                return await self.inner.exchange(calls, timeout_s)
            case "doubled at once":
                replies = await asyncio.gather(*(self._copy(calls, timeout_s) for _ in range(2)))
                return replies[1]
            case "reply late":
                # The network keeps a copy of the request and delivers it again after the next call.
                await self.inner.exchange(calls, timeout_s)
                self._late.append(calls)
                raise TransportLost("late")
        replies = await self.inner.exchange(calls, timeout_s)
        late, self._late = self._late, []
        for old in late:
            await self.inner.exchange(old, timeout_s)
        return replies

    async def _copy(self, calls: Sequence[Call], timeout_s: float) -> list[Reply]:
        """Each copy has call objects of its own: transports number them."""
        copies = [type(c)(**{f: getattr(c, f) for f in c.__struct_fields__}) for c in calls]
        return await self.inner.exchange(copies, timeout_s)

    async def get_json(self, path: str) -> bytes:
        return await self.inner.get_json(path)

    async def close(self) -> None:
        await self.inner.close()


async def no_sleep(_: float) -> None:
    """A pause that takes no time."""
