"""The Java machines of this process: started when needed, shared by all sessions, kept for later ones.

Each machine has a fixed heap, and there are at most so many; so the memory has a bound whatever the number of
sessions. A machine that has died is replaced at the next reset. All end with the process, also with one that is killed.
"""

from __future__ import annotations

import atexit
import functools
import os
import threading

from agentenv.errors import NoCapacity
from envservers.science.sciworld.jvm import Jvm
from envservers.science.sciworld.other_ways import kept
from envservers.science.sciworld.shorten import shortened
from envservers.science.sciworld.world import World

MOST = 4
"""Machines by default, on a computer with as many cores."""
CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
SPREAD = 4
"""Worlds of a machine from which another one is started, while there may be more."""
BASE_MB, WORLD_MB = 64, 0.75
"""Heap that the simulator itself takes, and each world in it."""
SOLVER_MB = 512
"""Heap of the machine that finds solutions, at most; some take over 192 MB."""
SOLVE_S = 280.0
"""Seconds that finding one may take; the longest need eight of a core."""


class Pool:
    """At most `jvms` machines with `heap_mb` megabytes of heap each."""

    def __init__(self, *, jvms: int | None, heap_mb: int) -> None:
        self.most = jvms or min(MOST, CORES)
        self.heap_mb = heap_mb
        self.room = int((heap_mb - BASE_MB) / WORLD_MB)
        """Worlds that one machine holds."""
        self._lock = threading.Lock()
        self._jvms: list[Jvm] = []
        self._solver: Jvm | None = None
        """One more, started by the first solution: finding one takes seconds and much heap, beside no session."""
        self.solution = functools.lru_cache(maxsize=1024)(self._solution)
        """A solution, the simulator's own where that succeeds: (task, variation, simplifications) -> actions."""

    def load(self, task: str, variation: int, simplifications: str) -> World:
        """A new world in the machine that has the fewest."""
        with self._lock:
            world = World(self._least())
        world.load(task, variation, simplifications)
        return world

    def _solution(self, task: str, variation: int, simplifications: str) -> tuple[str, ...]:
        if not simplifications and (way := kept().get((task, variation))):
            return way
        with self._lock:
            if self._solver is not None and not self._solver.alive:
                self._solver.end()
                self._solver = None
            self._solver = solver = self._solver or Jvm(heap_mb=SOLVER_MB, claimed=False, call_s=SOLVE_S)
        return shortened(solver.solution(task, variation, simplifications))

    def _least(self) -> Jvm:
        """The machine with the fewest worlds, a new one while those that run are busy; NoCapacity when all are full."""
        for jvm in self._jvms:
            if not jvm.alive:
                jvm.end()
        self._jvms = [jvm for jvm in self._jvms if jvm.alive]
        least = min(self._jvms, key=lambda jvm: len(jvm.worlds), default=None)
        if least is None or (len(least.worlds) >= SPREAD and len(self._jvms) < self.most):
            least = Jvm(heap_mb=self.heap_mb)
            self._jvms.append(least)
        if len(least.worlds) >= self.room:
            raise NoCapacity(
                f"sciworld: {self.most} Java machines of {self.heap_mb} MB hold {self.most * self.room} worlds and "
                f"are full; close sessions, or serve with more jvms or heap_mb"
            )
        return least

    def pids(self) -> list[int]:
        """Of the machines that run."""
        return [jvm.pid for jvm in self._all() if jvm.alive]

    def _all(self) -> list[Jvm]:
        return [*self._jvms, *([self._solver] if self._solver else [])]

    def close(self) -> None:
        """End every machine; the next load starts others."""
        with self._lock:
            jvms, self._jvms, self._solver = self._all(), [], None
        for jvm in jvms:
            jvm.end()


_pools: dict[tuple[int | None, int], Pool] = {}
_lock = threading.Lock()


def pool_of(*, jvms: int | None, heap_mb: int) -> Pool:
    """The one pool of this process with these settings."""
    with _lock:
        return _pools.setdefault((jvms, heap_mb), Pool(jvms=jvms, heap_mb=heap_mb))


@atexit.register
def close_pools() -> None:
    """End every machine of this process."""
    with _lock:
        pools = list(_pools.values())
    for pool in pools:
        pool.close()


def _forget() -> None:
    """In a forked child: the machines are the parent's, and so are the connections to them."""
    global _lock
    _lock = threading.Lock()
    _pools.clear()


os.register_at_fork(after_in_child=_forget)
