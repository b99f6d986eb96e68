"""The board for the pages. While a run goes on, its table changes with every episode, and a big one takes a while to
compute: then the last one is shown for a little longer, with the time that it is of.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evals.boards import STATE, board
from evals.leaderboard import Row

if TYPE_CHECKING:
    from evals.store.schema import RunRow
    from evals.store.store import Store

SHARE = 0.05
"""Of the time, at most, is spent on computing a board anew."""

QUICK_S = 0.05
"""One that takes no longer is always computed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Board:
    """The rows, and how old they are."""

    rows: list[Row]
    age_s: float
    """0 for what was computed from the present state."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kept:
    state: Any
    rows: list[Row]
    at: float
    took: float


class Boards:
    """The last board over all suites; threads share it, and one computes at a time."""

    def __init__(self, store: Store, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._store, self._clock = store, clock
        self._lock = threading.Lock()
        self._kept: _Kept | None = None

    def of(self, runs: Sequence[RunRow]) -> Board:
        """The board of all runs, which are given as they are now."""
        state = [[getattr(run, name) for name in STATE] for run in runs]
        with self._lock:
            kept = self._kept
            began = self._clock()
            if kept is not None and kept.state != state and kept.took > QUICK_S:
                age = began - kept.at
                if age < kept.took / SHARE:
                    return Board(rows=kept.rows, age_s=age)
            rows = board(self._store)
            ended = self._clock()
            took = kept.took if kept is not None and kept.state == state else ended - began
            self._kept = _Kept(state=state, rows=rows, at=ended, took=took)
            return Board(rows=rows, age_s=0.0)
