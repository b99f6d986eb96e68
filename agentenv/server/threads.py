"""Threads for env calls: one for each call under way, kept for later calls, never in the way of the process's end.

An executor of the standard library has a fixed number of threads, so that a call may wait for another env's, and its
threads are waited for at exit, so that one env that hangs keeps the process alive. Neither may happen here.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Any, TypeVar

T = TypeVar("T")
Work = tuple[Future[Any], Callable[..., Any], tuple[Any, ...]]


class Threads:
    """As many daemon threads as there have been calls at one time."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._numbers = itertools.count()
        self._guard = threading.Lock()
        self._queue: SimpleQueue[Work | None] = SimpleQueue()
        self._idle = 0
        """Threads that wait for work and have none in the queue."""
        self._closed = False

    def submit(self, function: Callable[..., T], *arguments: Any) -> Future[T]:
        """Begin `function(*arguments)` at once, in an idle thread or a new one."""
        work: Work = (Future(), function, arguments)
        with self._guard:
            new = self._idle == 0
            if not new:
                self._idle -= 1
        if new:
            name = f"{self._name}-{next(self._numbers)}"
            threading.Thread(target=self._work, name=name, daemon=True).start()
        self._queue.put(work)
        return work[0]

    def close(self) -> None:
        """Let the threads end; one that is inside a call, or gets one later, ends after it."""
        with self._guard:
            self._closed = True
            idle, self._idle = self._idle, 0
        for _ in range(idle):
            self._queue.put(None)

    def _work(self) -> None:
        while (work := self._queue.get()) is not None and self._do(*work):
            del work  # an idle thread keeps no env alive

    def _do(self, future: Future[Any], function: Callable[..., Any], arguments: tuple[Any, ...]) -> bool:
        """Do one piece of work; whether the thread is to wait for another."""
        result, error = None, None
        try:
            result = function(*arguments)
        except BaseException as exc:
            error = exc
        with self._guard:  # before the result is told, so that whoever hears of it finds this thread idle
            stays = not self._closed
            self._idle += stays
        if error is None:
            future.set_result(result)
        else:
            future.set_exception(error)
        del future, error  # they refer to each other through the traceback
        return stays
