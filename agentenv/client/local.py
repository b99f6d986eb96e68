"""The local transport: the session table of this process, without a socket and without JSON."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from agentenv.errors import TransportLost
from agentenv.server.sessions import Sessions
from agentenv.wire import Call, Reply


class LocalTransport:
    """Calls a table of sessions on the same event loop. The table belongs to whoever made it."""

    address = "this process"

    def __init__(self, sessions: Sessions, *, owned: bool = False) -> None:
        self.sessions = sessions
        self._owned = owned

    async def exchange(self, calls: Sequence[Call], timeout_s: float) -> list[Reply]:
        """See Transport."""
        table = self.sessions
        replies: list[Reply | asyncio.Task[Reply]] = []
        waiting = []
        for call in calls:
            reply = table.handle_now(call)
            if reply is None:
                waiting.append(task := table.start(call))
                replies.append(task)
            else:
                replies.append(reply)
        if waiting:
            _, late = await asyncio.wait(waiting, timeout=timeout_s)
            if late:
                raise TransportLost(f"no reply within {timeout_s:g} s; the call goes on")
        return [r if isinstance(r, Reply) else r.result() for r in replies]

    async def get_json(self, path: str) -> bytes:
        """See Transport."""
        from agentenv.server.control import control

        return control(self.sessions, path)

    async def close(self) -> None:
        """See Transport."""
        if self._owned:
            await self.sessions.close()
