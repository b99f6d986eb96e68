"""Where an env's methods run: one runner class for each concurrency model.

A runner carries out a host's operations by name, each under a time limit. An overrun is EnvFailed; the runner is then
`spent`, and the session makes a new one for its next episode.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import Future
from typing import Any, Protocol
from weakref import WeakSet

from agentenv.errors import EnvFailed
from agentenv.registry import Concurrency, EnvSpec
from agentenv.server.host import AsyncEnvHost, EnvHost
from agentenv.server.process import ProcessRunner
from agentenv.server.threads import Threads

log = logging.getLogger("agentenv.server")

SLOW_CALL_S = 0.001
SLOW_CALLS_ALLOWED = 5
WATCHED_CALLS = 20
"""Calls of an inline env that are measured by thread time after a slow one."""
CLOSE_S = 30.0
"""Seconds that an env may take to close."""


class Runner(Protocol):
    """Runs the operations of one session's host."""

    spent: bool
    """An operation overran or the process died: of no more use."""

    async def run(self, operation: str, argument: Any, limit_s: float) -> Any:
        """Carry out one operation; EnvFailed when it raises or overruns."""

    async def close(self) -> None:
        """Close the env and free what the runner holds."""

    def abandon(self) -> None:
        """Stop what runs as far as it can be stopped, without asking the env: the server ends."""


class InlineGauge:
    """Watches the calls of one inline env; after five slow ones the env is demoted to threads.

    Thread time is what counts, but asking for it costs as much as a small step. So it is only asked for in the calls
    that follow one that was slow by the wall clock, which may have been the machine's fault.
    """

    def __init__(self, spec: EnvSpec) -> None:
        self.spec = spec
        self.demoted = False
        self._watched = 0
        """Calls that are still to be measured by thread time."""
        self._slow = 0

    def call(self, method: Callable[[Any], Any], argument: Any, limit_s: float) -> Any:
        """`method(argument)`, measured; EnvFailed when it took over `limit_s`."""
        used_before = time.thread_time() if self._watched else 0.0
        started = time.perf_counter()
        try:
            result = method(argument)
        finally:
            took = time.perf_counter() - started
            if self._watched:
                self._watched -= 1
                self._note(time.thread_time() - used_before)
            if took > SLOW_CALL_S:
                self._watched = WATCHED_CALLS
        if took > limit_s:
            raise EnvFailed(f"{self.spec.id}.{method.__name__} took over {limit_s:g} s")
        return result

    def _note(self, seconds: float) -> None:
        self._slow += seconds > SLOW_CALL_S
        if self._slow >= SLOW_CALLS_ALLOWED and not self.demoted:
            self.demoted = True
            log.warning(
                "%s is declared inline but took over 1 ms of thread time %d times; it runs in threads from now on",
                self.spec.id,
                self._slow,
            )


class KeyLock:
    """One call at a time for a lock key, also while a call that overran has not come back.

    Waiting for the calls of others has no limit. Waiting for one that overran has: the limit once more, then every
    call under the key is EnvFailed until it comes back.
    """

    def __init__(self) -> None:
        self.turn = asyncio.Lock()
        self._free = asyncio.Event()
        self._free.set()
        self._wait_until = 0.0

    def overrun(self, call: Future[Any], limit_s: float) -> None:
        """`call` has overrun its limit and still runs."""
        loop = asyncio.get_running_loop()
        self._free.clear()
        self._wait_until = loop.time() + limit_s
        call.add_done_callback(lambda _: later(loop, self._free.set))

    async def free(self, what: str) -> None:
        """Wait for a call that overran; EnvFailed when it does not come back in time."""
        if self._free.is_set():
            return
        left = self._wait_until - asyncio.get_running_loop().time()
        try:
            await asyncio.wait_for(self._free.wait(), max(0.0, left))
        except TimeoutError:
            raise EnvFailed(f"{what} cannot begin: another call under its lock overran and has not come back") from None


class ThreadRunner:
    """In a thread, under a lock where the env wants one call at a time."""

    def __init__(self, host: EnvHost, threads: Threads, lock: KeyLock | None) -> None:
        self.host = host
        self.spent = False
        self._threads = threads
        self._lock = lock
        self.stuck: Future[Any] | None = None
        """The call that overran: it holds a thread until it returns by itself."""
        self.stuck_counted = False
        self._closing: asyncio.Future[None] | None = None

    async def run(self, operation: str, argument: Any, limit_s: float) -> Any:
        """See Runner. Waiting for the lock is queue time and not the env's."""
        if self._lock is None:
            return await self._run(operation, argument, limit_s)
        async with self._lock.turn:
            await self._lock.free(f"{self.host.spec.id}.{operation}")
            return await self._run(operation, argument, limit_s)

    async def _run(self, operation: str, argument: Any, limit_s: float) -> Any:
        call = self._threads.submit(getattr(self.host, operation), argument)
        try:
            return await asyncio.wait_for(asyncio.shield(asyncio.wrap_future(call)), limit_s)
        except TimeoutError:
            self.spent, self.stuck = True, call
            if self._lock is not None:
                self._lock.overrun(call, limit_s)
            raise EnvFailed(f"{self.host.spec.id}.{operation} took over {limit_s:g} s") from None

    async def close(self) -> None:
        """See Runner. A stuck env is closed when it comes back, and is not waited for."""
        if self.stuck is None:
            await self._close_host()
            return
        loop = asyncio.get_running_loop()
        self.stuck.add_done_callback(lambda _: later(loop, self._close_late))

    async def _close_host(self) -> None:
        if self.host.env is not None:
            await _logged(self.run("close", None, CLOSE_S), self.host.spec)

    def _close_late(self) -> None:
        self._closing = asyncio.ensure_future(self._close_host())

    def abandon(self) -> None:
        """See Runner. A thread cannot be stopped; it does not outlive the process."""


class InlineRunner(ThreadRunner):
    """On the event loop; a step needs no task and no switch. A demoted env moves to threads."""

    def __init__(self, host: EnvHost, threads: Threads, gauge: InlineGauge) -> None:
        super().__init__(host, threads, None)
        self.gauge = gauge

    @property
    def ready(self) -> bool:
        """Whether `run_now` may be used: not before the first reset, which may import an engine."""
        return not self.gauge.demoted and self.host.env is not None

    def run_now(self, operation: str, argument: Any, limit_s: float) -> Any:
        """Carry out one operation before returning."""
        return self.gauge.call(getattr(self.host, operation), argument, limit_s)

    async def run(self, operation: str, argument: Any, limit_s: float) -> Any:
        """See Runner."""
        if self.ready:
            return self.run_now(operation, argument, limit_s)
        return await super().run(operation, argument, limit_s)


class AsyncRunner:
    """On the event loop, awaited; an overrun cancels the call."""

    def __init__(self, host: AsyncEnvHost) -> None:
        self.host = host
        self.spent = False
        self._call: asyncio.Task[Any] | None = None

    async def run(self, operation: str, argument: Any, limit_s: float) -> Any:
        """See Runner."""
        what = f"{self.host.spec.id}.{operation}"
        call = self._call = asyncio.ensure_future(getattr(self.host, operation)(argument))
        try:
            done, _ = await asyncio.wait([call], timeout=limit_s)
        except asyncio.CancelledError:  # the server ends
            call.cancel()
            raise
        if not done:  # an env that refuses to be cancelled is not waited for
            call.cancel()
            call.add_done_callback(lambda call: call.cancelled() or call.exception())
            self.spent = True
            raise EnvFailed(f"{what} took over {limit_s:g} s")
        if call.cancelled():
            raise EnvFailed(f"{what} was cancelled from inside")
        return call.result()

    async def close(self) -> None:
        """See Runner."""
        await _logged(self.run("close", None, CLOSE_S), self.host.spec)

    def abandon(self) -> None:
        """See Runner."""
        if self._call is not None:
            self._call.cancel()


class Runners:
    """Makes runners, and holds what they share: threads, locks and gauges."""

    def __init__(self) -> None:
        self.threads = Threads("agentenv-env")
        self._locks: dict[str, KeyLock] = {}
        self._gauges: dict[str, InlineGauge] = {}
        self._made: WeakSet[Runner] = WeakSet()

    def make(self, spec: EnvSpec, options: Mapping[str, Any], *, images: bool = False) -> Runner:
        """A runner for one session, by the spec's declared model."""
        runner = self._make(spec, options, images)
        self._made.add(runner)
        return runner

    def _make(self, spec: EnvSpec, options: Mapping[str, Any], images: bool) -> Runner:
        if spec.concurrency is Concurrency.PROCESS:
            return ProcessRunner(spec, options, images=images)
        if spec.concurrency is Concurrency.ASYNC:
            return AsyncRunner(AsyncEnvHost(spec, options, images=images))
        host = EnvHost(spec, options, images=images)
        if spec.concurrency is Concurrency.INLINE:
            return InlineRunner(host, self.threads, self._gauges.setdefault(spec.id, InlineGauge(spec)))
        if spec.concurrency is Concurrency.LOCKED:
            lock = self._locks.setdefault(spec.lock_key or spec.id, KeyLock())
            return ThreadRunner(host, self.threads, lock)
        return ThreadRunner(host, self.threads, None)

    def abandon(self) -> None:
        """Stop every call as far as it can be stopped."""
        for runner in list(self._made):
            runner.abandon()

    def close(self) -> None:
        """Let the threads go; one that is stuck in an env is not waited for."""
        self.threads.close()


def later(loop: asyncio.AbstractEventLoop, function: Callable[[], Any]) -> None:
    """Call `function` on a loop from any thread; nothing where the loop has ended."""
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(function)


async def _logged(closing: Awaitable[Any], spec: EnvSpec) -> None:
    try:
        await closing
    except EnvFailed as exc:
        log.warning("closing %s: %s", spec.id, exc)
