"""The HTTP transport: one request a call, or `/v1/batch` for several."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from agentenv.client.codec import MAX_REPLY_BYTES, decode_batch, decode_reply, encode, foreign, in_chunks
from agentenv.client.url import base_url_of, unreachable
from agentenv.errors import AgentEnvError, TransportLost
from agentenv.wire import (
    Call,
    CreateCall,
    DeleteCall,
    GetCall,
    OracleCall,
    Reply,
    ResetCall,
    StepCall,
    decode_problem,
)

if TYPE_CHECKING:
    import aiohttp

CONNECTIONS = 256


def request_of(call: Call) -> tuple[str, str, bytes | None]:
    """Method, path and body of a call."""
    match call:
        case CreateCall():
            return "POST", "/v1/sessions", encode(call.body)
        case ResetCall():
            return "POST", f"/v1/sessions/{call.session}/reset", encode(call.body)
        case StepCall():
            return "POST", f"/v1/sessions/{call.session}/step", encode(call.body)
        case GetCall():
            return "GET", f"/v1/sessions/{call.session}" + ("?actions=1" if call.body.actions else ""), None
        case DeleteCall():
            query = f"?outcome={call.body.outcome}" if call.body.outcome else ""
            return "DELETE", f"/v1/sessions/{call.session}{query}", None
        case OracleCall():
            return "GET", f"/v1/sessions/{call.session}/oracle", None


class HttpTransport:
    """Requests over aiohttp; made inside a running event loop."""

    def __init__(self, base_url: str, *, token: str | None = None) -> None:
        self.address = base_url_of(base_url)
        self._headers = {"Content-Type": "application/json"}
        if token:
            self._headers["Authorization"] = f"Bearer {token}"
        self._session: aiohttp.ClientSession | None = None

    async def exchange(self, calls: Sequence[Call], timeout_s: float) -> list[Reply]:
        """See Transport."""
        if len(calls) == 1:
            method, path, body = request_of(calls[0])
            status, data, retry_after_s = await self._request(method, path, body, timeout_s)
            return [decode_reply(calls[0], status, data, retry_after_s)]
        for number, call in enumerate(calls):
            call.id = number
        replies: list[Reply] = []
        for chunk in in_chunks([encode(call) for call in calls]):
            part = calls[len(replies) : len(replies) + len(chunk)]
            body = b'{"requests":[' + b",".join(chunk) + b"]}"
            status, data, retry_after_s = await self._request("POST", "/v1/batch", body, timeout_s)
            if status == 200:
                replies += decode_batch(part, data)
            else:  # the message was refused, so every call in it
                replies += [decode_reply(call, status, data, retry_after_s) for call in part]
        return replies

    async def get_json(self, path: str) -> bytes:
        """See Transport."""
        status, data, _ = await self._request("GET", path, None, 30.0)
        if status != 200:
            raise _problem(status, data)
        return data

    async def _request(
        self, method: str, path: str, body: bytes | None, timeout_s: float
    ) -> tuple[int, bytes, float | None]:
        import aiohttp

        if self._session is None:
            connector = aiohttp.TCPConnector(limit=CONNECTIONS)
            self._session = aiohttp.ClientSession(connector=connector, headers=self._headers)
        try:
            async with self._session.request(
                method,
                self.address + path,
                data=body,
                timeout=aiohttp.ClientTimeout(total=timeout_s),
                allow_redirects=False,
            ) as response:
                data = await _bounded(response)
                return response.status, data, _retry_after(response.headers.get("Retry-After"))
        except aiohttp.ClientConnectorError as exc:
            raise unreachable(self.address, exc) from exc
        except (aiohttp.ClientError, ConnectionError) as exc:
            cause = str(exc) or type(exc).__name__
            raise TransportLost(f"lost {self.address} during {method} {path}: {cause}") from exc
        except TimeoutError as exc:
            raise TransportLost(f"no reply from {self.address} within {timeout_s:g} s") from exc

    async def close(self) -> None:
        """See Transport."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()


async def _bounded(response: Any) -> bytes:
    """The body of a response, at most MAX_REPLY_BYTES."""
    if (response.content_length or 0) > MAX_REPLY_BYTES:
        raise AgentEnvError(f"a reply of {response.content_length} bytes, over {MAX_REPLY_BYTES}")
    if response.content_length is not None and "Content-Encoding" not in response.headers:
        data: bytes = await response.read()
        return data
    parts, size = [], 0
    async for part in response.content.iter_chunked(65536):
        size += len(part)
        if size > MAX_REPLY_BYTES:
            raise AgentEnvError(f"a reply of over {MAX_REPLY_BYTES} bytes")
        parts.append(part)
    return b"".join(parts)


def _retry_after(value: str | None) -> float | None:
    try:
        return None if value is None else min(60.0, max(0.0, float(value)))
    except ValueError:
        return None


def _problem(status: int, data: bytes) -> AgentEnvError:
    try:
        return decode_problem(data).error()
    except msgspec.MsgspecError:
        if status >= 500:
            return foreign(status, data).error()
        return AgentEnvError(f"status {status} from something that is no agentenv server: {data[:200]!r}")
