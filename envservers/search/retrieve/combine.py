"""Searches of many sessions at a time as one call: whoever comes first asks for all that wait."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field

from envservers.search.retrieve.base import Hit, Retriever

MOST = 64
"""Queries of one call."""


@dataclass(slots=True)
class _Asked:
    """One search that waits."""

    queries: Sequence[str]
    k: int
    done: threading.Event = field(default_factory=threading.Event)
    found: list[list[Hit]] | None = None
    failure: BaseException | None = None


class Combined:
    """A retriever whose searches are gathered while one of them runs; lists are those of searches made alone.

    No search waits for others to come: the first one runs at once, and what came meanwhile runs together after it.
    """

    def __init__(self, inner: Retriever) -> None:
        self.inner = inner
        self._waiting: list[_Asked] = []
        self._change = threading.Lock()
        self._running = threading.Lock()

    @property
    def digest(self) -> str:
        """See Retriever."""
        return self.inner.digest

    def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        """See Retriever."""
        asked = _Asked(queries, k)
        with self._change:
            self._waiting.append(asked)
        with self._running:
            if not asked.done.is_set():
                self._run(self._taken(asked))
        if asked.failure is not None:
            raise asked.failure
        assert asked.found is not None
        return asked.found

    def _taken(self, asked: _Asked) -> list[_Asked]:
        """The caller's search and others of the same k that wait, in the order in which they came."""
        with self._change:
            room = MOST - len(asked.queries)
            taken = [asked]
            for other in self._waiting:
                if other is not asked and other.k == asked.k and len(other.queries) <= room:
                    taken.append(other)
                    room -= len(other.queries)
            self._waiting = [other for other in self._waiting if other not in taken]
        return taken

    def _run(self, taken: Sequence[_Asked]) -> None:
        try:
            found = iter(self.inner.search([query for asked in taken for query in asked.queries], taken[0].k))
            for asked in taken:
                asked.found = [next(found) for _ in asked.queries]
        except BaseException as exc:
            for asked in taken:
                asked.failure = exc
        finally:
            for asked in taken:
                asked.done.set()
