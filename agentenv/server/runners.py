"""Where an env's methods run: one runner class for each concurrency model.

A runner carries out a host's operations by name, each under a time limit. An overrun is EnvFailed; the runner is then
`spent`, and the session makes a new one for its next episode.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Protocol

from agentenv.errors import EnvFailed
from agentenv.registry import Concurrency, EnvSpec
from agentenv.server.host import AsyncEnvHost, EnvHost
from agentenv.server.process import ProcessRunner

log = logging.getLogger("agentenv.server")

SLOW_CALL_S = 0.001
SLOW_CALLS_ALLOWED = 5


class Runner(Protocol):
    """Runs the operations of one session's host."""

    spent: bool
    """An operation overran or the process died: of no more use."""

    async def run(self, operation: str, argument: Any, limit_s: float) -> Any:
        """Carry out one operation; EnvFailed when it raises or overruns."""

    async def close(self) -> None:
        """Close the env and free what the runner holds."""


class InlineGauge:
    """Watches the calls of one inline env; after five slow ones the env is demoted to threads.

    Thread time is what counts, but asking for it costs as much as a small step. So it is only asked for after a call
    was slow by the wall clock.
    """

    def __init__(self, spec: EnvSpec) -> None:
        self.spec = spec
        self.demoted = False
        self._watching = False
        self._slow = 0

    def call(self, method: Callable[[Any], Any], argument: Any) -> Any:
        """`method(argument)`, measured."""
        if self._watching:
            started = time.thread_time()
            try:
                return method(argument)
            finally:
                self._note(time.thread_time() - started)
        started = time.perf_counter()
        try:
            return method(argument)
        finally:
            if time.perf_counter() - started > SLOW_CALL_S:
                self._watching = True

    def _note(self, seconds: float) -> None:
        self._slow += seconds > SLOW_CALL_S
        if self._slow >= SLOW_CALLS_ALLOWED and not self.demoted:
            self.demoted = True
            log.warning(
                "%s is declared inline but took over 1 ms of thread time %d times; it runs in threads from now on",
                self.spec.id,
                self._slow,
            )


class ThreadRunner:
    """In a pool's thread, under a lock where the env wants one call at a time."""

    def __init__(self, host: EnvHost, threads: ThreadPoolExecutor, lock: asyncio.Lock | None) -> None:
        self.host = host
        self.spent = False
        self._threads = threads
        self._lock = lock
        self.stuck: Future[Any] | None = None
        """The call that overran: it holds a thread until it returns by itself."""
        self.stuck_counted = False

    async def run(self, operation: str, argument: Any, limit_s: float) -> Any:
        """See Runner. Waiting for the lock is queue time and not the env's."""
        if self._lock is None:
            return await self._run(operation, argument, limit_s)
        async with self._lock:
            return await self._run(operation, argument, limit_s)

    async def _run(self, operation: str, argument: Any, limit_s: float) -> Any:
        call = self._threads.submit(getattr(self.host, operation), argument)
        try:
            return await asyncio.wait_for(asyncio.shield(asyncio.wrap_future(call)), limit_s)
        except TimeoutError:
            self.spent, self.stuck = True, call
            raise EnvFailed(f"{self.host.spec.id}.{operation} took over {limit_s:g} s") from None

    async def close(self) -> None:
        """See Runner. A stuck env is closed by its own thread when it comes back."""
        if self.stuck is not None:
            self.stuck.add_done_callback(lambda _: _close_quietly(self.host))
        elif self.host.env is not None:
            await _logged(self.run("close", None, 30.0), self.host.spec)


class InlineRunner(ThreadRunner):
    """On the event loop; a step needs no task and no switch. A demoted env moves to threads."""

    def __init__(self, host: EnvHost, threads: ThreadPoolExecutor, gauge: InlineGauge) -> None:
        super().__init__(host, threads, None)
        self.gauge = gauge

    @property
    def ready(self) -> bool:
        """Whether `run_now` may be used: not before the first reset, which may import an engine."""
        return not self.gauge.demoted and self.host.env is not None

    def run_now(self, operation: str, argument: Any, limit_s: float) -> Any:
        """Carry out one operation before returning."""
        started = time.perf_counter()
        result = self.gauge.call(getattr(self.host, operation), argument)
        if time.perf_counter() - started > limit_s:
            raise EnvFailed(f"{self.host.spec.id}.{operation} took over {limit_s:g} s")
        return result

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

    async def run(self, operation: str, argument: Any, limit_s: float) -> Any:
        """See Runner."""
        try:
            return await asyncio.wait_for(getattr(self.host, operation)(argument), limit_s)
        except TimeoutError:
            self.spent = True
            raise EnvFailed(f"{self.host.spec.id}.{operation} took over {limit_s:g} s") from None

    async def close(self) -> None:
        """See Runner."""
        await _logged(asyncio.wait_for(self.host.close(), 30.0), self.host.spec)


class Runners:
    """Makes runners, and holds what they share: threads, locks and gauges."""

    def __init__(self, max_sessions: int) -> None:
        # A session has at most one call under way, so no env ever waits for another one's thread.
        self.threads = ThreadPoolExecutor(max_workers=max_sessions, thread_name_prefix="agentenv-env")
        self._locks: dict[str, asyncio.Lock] = {}
        self._gauges: dict[str, InlineGauge] = {}

    def make(self, spec: EnvSpec, options: Mapping[str, Any]) -> Runner:
        """A runner for one session, by the spec's declared model."""
        if spec.concurrency is Concurrency.PROCESS:
            return ProcessRunner(spec, options)
        if spec.concurrency is Concurrency.ASYNC:
            return AsyncRunner(AsyncEnvHost(spec, options))
        host = EnvHost(spec, options)
        if spec.concurrency is Concurrency.INLINE:
            return InlineRunner(host, self.threads, self._gauges.setdefault(spec.id, InlineGauge(spec)))
        if spec.concurrency is Concurrency.LOCKED:
            lock = self._locks.setdefault(spec.lock_key or spec.id, asyncio.Lock())
            return ThreadRunner(host, self.threads, lock)
        return ThreadRunner(host, self.threads, None)

    def close(self) -> None:
        """Let the threads go; one that is stuck in an env is not waited for."""
        self.threads.shutdown(wait=False, cancel_futures=True)


def _close_quietly(host: EnvHost) -> None:
    try:
        host.close()
    except EnvFailed as exc:
        log.warning("%s", exc)


async def _logged(closing: Awaitable[Any], spec: EnvSpec) -> None:
    try:
        await closing
    except (EnvFailed, TimeoutError) as exc:
        log.warning("closing %s: %s", spec.id, exc)
