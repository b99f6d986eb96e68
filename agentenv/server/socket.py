"""`/v1/ws`: the same envelopes as a batch, one or a list a message; replies as they complete.

A socket carries calls and owns nothing: when it is lost, operations go on and sessions live until their lease ends.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from starlette.websockets import WebSocketDisconnect

from agentenv.server.batch import encode, envelope, read_envelopes
from agentenv.server.sessions import Sessions
from agentenv.wire import Call, Reply

if TYPE_CHECKING:
    from starlette.websockets import WebSocket

PART = 32
"""Replies of a long list leave in parts of this size: the client reads the first ones while the next steps are done."""

Answered = tuple[int | str, Reply]


class Socket:
    """One open socket."""

    def __init__(self, websocket: WebSocket, sessions: Sessions) -> None:
        self._websocket = websocket
        self._sessions = sessions
        self._sending = asyncio.Lock()
        self._room = asyncio.Event()
        self._room.set()
        self._inflight = 0
        self._done: list[Answered] = []
        self._flushing: asyncio.Task[None] | None = None
        self._binary = False

    async def run(self) -> None:
        """Serve calls until the other side goes away."""
        await self._websocket.accept()
        while True:
            message = await self._websocket.receive()
            if message["type"] == "websocket.disconnect":
                return
            data = message.get("bytes")
            self._binary = data is not None
            await self._take(message["text"].encode() if data is None else data)
            await self._room.wait()  # over max_inflight the socket is not read

    async def _take(self, data: bytes) -> None:
        calls, as_list = read_envelopes(data, self._sessions.limits.max_batch)
        now: list[Answered] = []
        for id, call in calls:
            reply = call if isinstance(call, Reply) else self._sessions.handle_now(call)
            if reply is None:
                self._later(id, call)  # type: ignore[arg-type]
            else:
                now.append((id, reply))
                if len(now) == PART:
                    await self._send(now, as_list=as_list)
                    now = []
        if now:
            await self._send(now, as_list=as_list)

    def _later(self, id: int | str, call: Call) -> None:
        self._inflight += 1
        if self._inflight >= self._sessions.limits.max_inflight:
            self._room.clear()
        self._sessions.start(call).add_done_callback(lambda task: self._finished(id, task))

    def _finished(self, id: int | str, task: asyncio.Task[Reply]) -> None:
        if task.cancelled():
            self._answered(1)
            return
        self._done.append((id, task.result()))
        if self._flushing is None or self._flushing.done():
            self._flushing = asyncio.get_running_loop().create_task(self._flush())

    async def _flush(self) -> None:
        while self._done:
            done, self._done = self._done, []
            await self._send(done, as_list=len(done) > 1)
            self._answered(len(done))

    def _answered(self, calls: int) -> None:
        """Calls count until their replies are sent: who does not read them is not read either."""
        self._inflight -= calls
        if self._inflight < self._sessions.limits.max_inflight:
            self._room.set()

    async def _send(self, replies: list[Answered], *, as_list: bool) -> None:
        envelopes = [envelope(id, reply) for id, reply in replies]
        messages = [encode(envelopes)] if as_list else [encode(one) for one in envelopes]
        async with self._sending:
            for message in messages:
                try:
                    if self._binary:
                        await self._websocket.send_bytes(message)
                    else:
                        await self._websocket.send_text(message.decode())
                except (RuntimeError, OSError, WebSocketDisconnect):
                    return  # the other side is gone; the sessions keep the replies
