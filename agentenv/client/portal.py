"""The event loop behind the synchronous clients: one thread for each process, started when first needed.

After a fork the child has no such thread. It gets a portal of its own, and clients that were made before the fork say
so instead of waiting for ever.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import os
import threading
import weakref
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from agentenv.client.local import LocalTransport
from agentenv.client.transport import Transport
from agentenv.errors import BadCall, ClientClosed
from agentenv.registry import get_spec
from agentenv.server.sessions import Sessions

T = TypeVar("T")

END_S = 3.0
"""How long the end of the process waits for clients that nobody closed."""


class Portal:
    """A thread with an event loop, and the session table of this process on it."""

    def __init__(self) -> None:
        self.pid = os.getpid()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="agentenv-client", daemon=True)
        self._thread.start()
        self._sessions: Sessions | None = None
        self._unclosed: list[tuple[weakref.finalize[..., object], Callable[[], Coroutine[Any, Any, None]]]] = []

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on the loop and wait for it. An interrupt of the waiting thread cancels it."""
        if self.pid != os.getpid():
            work.close()
            raise ClientClosed("this client was made before a fork; make a new one in the child process")
        if threading.current_thread() is self._thread:
            work.close()
            raise BadCall("a client cannot be used on its own event loop, such as inside an inline or async env")
        if self._loop.is_closed():
            work.close()
            raise ClientClosed("this process is ending; no client works any more")
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    async def local(self) -> Transport:
        """The transport to the session table of this process."""
        if self._sessions is None:
            self._sessions = Sessions(find_spec=get_spec, oracle=True)
        return LocalTransport(self._sessions)

    def finish(self, work: Coroutine[Any, Any, None]) -> None:
        """Run what closes a client; nothing where its loop is gone, as after a fork."""
        with contextlib.suppress(ClientClosed):
            self.run(work)

    def when_forgotten(
        self, client: object, close: Callable[..., Coroutine[Any, Any, None]], *held: Any
    ) -> weakref.finalize[..., object]:
        """Have `close(*held)` run when `client` is collected unclosed, or at the end of the process.

        Nobody waits for it where it is collected, since any thread may do that.
        """

        def forgotten() -> None:
            if self.pid == os.getpid() and not self._loop.is_closed():
                asyncio.run_coroutine_threadsafe(close(*held), self._loop)

        finalizer = weakref.finalize(client, forgotten)
        finalizer.atexit = False  # `close` below does it, and waits
        self._unclosed = [(f, work) for f, work in self._unclosed if f.alive]
        self._unclosed.append((finalizer, lambda: close(*held)))
        return finalizer

    def close(self) -> None:
        """Close the clients that are left and the table, and stop the thread."""
        if self.pid != os.getpid() or self._loop.is_closed():
            return
        self.run(self._end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(5.0)
        if not self._thread.is_alive():
            self._loop.close()

    async def _end(self) -> None:
        closing = {asyncio.ensure_future(work()) for finalizer, work in self._unclosed if finalizer.detach()}
        others = (asyncio.all_tasks() | closing) - {asyncio.current_task()}
        if others:
            _, late = await asyncio.wait(others, timeout=END_S)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)
        if self._sessions is not None:
            await self._sessions.close()


_guard = threading.Lock()
_portal: Portal | None = None


def portal() -> Portal:
    """The portal of this process."""
    global _portal
    with _guard:
        if _portal is None or _portal.pid != os.getpid():
            _portal = Portal()
            atexit.register(_portal.close)
        return _portal


def _after_fork() -> None:
    global _guard, _portal
    _guard = threading.Lock()  # the parent may have held it
    _portal = None


os.register_at_fork(after_in_child=_after_fork)
