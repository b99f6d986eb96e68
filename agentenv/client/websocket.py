"""The WebSocket transport: one socket, many calls under way, replies matched by id.

Calls that are made in one turn of the event loop leave in one message.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import msgspec

from agentenv.client.codec import MAX_REPLY_BYTES, ReplyEnvelope, StepEnvelope, decode_reply, encode_all, in_chunks
from agentenv.client.http import HttpTransport
from agentenv.client.url import base_url_of, unreachable
from agentenv.errors import AgentEnvError, TransportLost, Unauthorized
from agentenv.wire import Call, DeleteCall, Reply, StepCall

if TYPE_CHECKING:
    import aiohttp

log = logging.getLogger("agentenv.client")

_envelopes = msgspec.json.Decoder(list[ReplyEnvelope] | ReplyEnvelope)
_steps = msgspec.json.Decoder(list[StepEnvelope] | StepEnvelope)
"""For messages with nothing but replies of steps, which are nearly all; the former reads what does not fit."""


class _Exchange:
    """The calls of one exchange, numbered without a gap; their replies as they come, and a future for all of them."""

    __slots__ = ("_calls", "_first", "_left", "_replies", "done")

    def __init__(self, calls: Sequence[Call], done: asyncio.Future[list[Reply]]) -> None:
        self.done = done
        self._calls = calls
        self._first = cast(int, calls[0].id)
        self._left = len(calls)
        self._replies: list[Any] = [None] * len(calls)

    @property
    def ids(self) -> range:
        """Of its calls."""
        return range(self._first, self._first + len(self._calls))

    def take(self, envelope: StepEnvelope | ReplyEnvelope) -> None:
        """One reply; the last one ends the exchange, one that is none of this protocol fails it."""
        place = cast(int, envelope.id) - self._first
        try:
            self._replies[place] = _reply(self._calls[place], envelope)
        except AgentEnvError as exc:
            self.failed(exc)
            return
        self._left -= 1
        if not self._left and not self.done.done():
            self.done.set_result(self._replies)

    def failed(self, error: AgentEnvError) -> None:
        """End the exchange without its replies."""
        if not self.done.done():
            self.done.set_exception(error)


class WebSocketTransport:
    """A socket over aiohttp, opened by the first exchange and opened again after a loss."""

    def __init__(self, base_url: str, *, token: str | None = None) -> None:
        self.address = base_url_of(base_url)
        self._token = token
        self._control = HttpTransport(base_url, token=token)
        self._session: aiohttp.ClientSession | None = None
        self._socket: aiohttp.ClientWebSocketResponse | None = None
        self._opening = asyncio.Lock()
        self._tasks: list[asyncio.Task[None]] = []
        self._waiting: dict[int | str, _Exchange] = {}
        self._outbox: list[bytes] = []
        self._wake = asyncio.Event()
        self._next_id = 0

    async def exchange(self, calls: Sequence[Call], timeout_s: float) -> list[Reply]:
        """See Transport."""
        for call in calls:
            self._next_id += 1
            call.id = self._next_id
        envelopes = encode_all(calls)
        loop = asyncio.get_running_loop()
        deadline = loop.time() + timeout_s
        if self._socket is None or self._socket.closed:
            await self._open_until(deadline, timeout_s)
        exchange = _Exchange(calls, loop.create_future())
        self._waiting |= dict.fromkeys(exchange.ids, exchange)
        self._outbox += envelopes
        self._wake.set()
        # One future and one timer for all of them: with one each, they would cost as much as the rest of an exchange.
        timer = loop.call_at(deadline, self._late, exchange, timeout_s)
        try:
            return await exchange.done
        except BaseException:
            for id in exchange.ids:
                self._waiting.pop(id, None)
            raise
        finally:
            timer.cancel()

    def _late(self, exchange: _Exchange, timeout_s: float) -> None:
        exchange.failed(self._no_reply(timeout_s))

    def _no_reply(self, timeout_s: float) -> TransportLost:
        return TransportLost(f"no reply from {self.address} within {timeout_s:g} s")

    async def get_json(self, path: str) -> bytes:
        """See Transport."""
        return await self._control.get_json(path)

    async def _open_until(self, deadline: float, timeout_s: float) -> None:
        try:
            async with asyncio.timeout_at(deadline):
                await self._open()
        except TimeoutError as exc:
            raise self._no_reply(timeout_s) from exc

    async def _open(self) -> None:
        import aiohttp

        async with self._opening:
            if self._socket is not None and not self._socket.closed:
                return
            await self._drop()
            if self._session is None:
                self._session = aiohttp.ClientSession()
            headers = {"Authorization": f"Bearer {self._token}"} if self._token else {}
            try:
                socket = await self._session.ws_connect(
                    self.address + "/v1/ws",
                    headers=headers,
                    max_msg_size=MAX_REPLY_BYTES,
                    timeout=aiohttp.ClientWSTimeout(ws_close=2.0),
                )
            except aiohttp.ClientConnectorError as exc:
                raise unreachable(self.address, exc) from exc
            except aiohttp.WSServerHandshakeError as exc:
                if exc.status in (401, 403):
                    raise Unauthorized(f"{self.address} wants a token; give token= or set AGENTENV_TOKEN") from exc
                if exc.status >= 500:
                    raise TransportLost(f"{self.address} opened no socket: status {exc.status}") from exc
                raise AgentEnvError(
                    f"{self.address} opened no socket: status {exc.status}; it is no agentenv server, "
                    f"or a proxy that knows no WebSocket (transport='http' does without)"
                ) from exc
            except (aiohttp.ClientError, OSError) as exc:
                raise TransportLost(f"{self.address} opened no socket: {str(exc) or type(exc).__name__}") from exc
            self._socket = socket
            self._wake = asyncio.Event()
            self._tasks = [
                asyncio.create_task(self._receive(socket)),
                asyncio.create_task(self._send(socket)),
            ]

    async def _send(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        with contextlib.suppress(ConnectionError, RuntimeError):  # the receiver tells of the loss
            while True:
                await self._wake.wait()
                self._wake.clear()
                envelopes, self._outbox = self._outbox, []
                for chunk in in_chunks(envelopes):
                    data = chunk[0] if len(chunk) == 1 else b"[" + b",".join(chunk) + b"]"
                    await socket.send_bytes(data)

    async def _receive(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        cause = "closed"
        try:
            async for message in socket:
                if isinstance(message.data, (bytes, str)):
                    self._take(message.data)
            cause = f"closed with code {socket.close_code}"
        except Exception as exc:  # whatever breaks the socket is told to every call under way
            cause = f"{type(exc).__name__}: {exc}"
        finally:
            await socket.close()
            lost = TransportLost(f"lost the socket to {self.address}: {cause}")
            for exchange in list(self._waiting.values()):
                exchange.failed(lost)

    def _take(self, data: bytes | str) -> None:
        for envelope in _read(data):
            exchange = self._waiting.pop(envelope.id, None)
            if exchange is not None:  # else a late or doubled reply: its call has been answered or given up
                exchange.take(envelope)

    async def _drop(self) -> None:
        tasks, self._tasks = self._tasks, []
        socket, self._socket = self._socket, None
        self._outbox = []
        if socket is not None:
            await socket.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def close(self) -> None:
        """See Transport."""
        await self._drop()
        session, self._session = self._session, None
        if session is not None:
            await session.close()
        await self._control.close()


def _read(data: bytes | str) -> Sequence[StepEnvelope] | Sequence[ReplyEnvelope]:
    """The envelopes of a message."""
    try:
        steps = _steps.decode(data)
        return steps if isinstance(steps, list) else [steps]
    except msgspec.ValidationError:
        got = _envelopes.decode(data)
        return got if isinstance(got, list) else [got]


def _reply(call: Call, envelope: StepEnvelope | ReplyEnvelope) -> Reply:
    if type(envelope) is StepEnvelope:
        if type(call) is StepCall or type(call) is DeleteCall:
            return Reply(envelope.status, envelope.body, envelope.retry_after_s)
        raise AgentEnvError(f"the reply of a step came to a {type(call).__name__}")
    assert isinstance(envelope, ReplyEnvelope)
    return decode_reply(call, envelope.status, envelope.body, envelope.retry_after_s)
