"""Several questions to one state of the database, whatever others write meanwhile."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import Connection, select, text
from sqlalchemy.orm import Session

from evals.store.byhand import chunks
from evals.store.counters import TASK_SUMS
from evals.store.schema import DerivedRow, RunRow, TaskRow

_COLUMNS = ("env", "task_id", "planned", *TASK_SUMS)
_COUNTED = select(*(getattr(TaskRow, name) for name in _COLUMNS))
_Counted = namedtuple("_Counted", _COLUMNS)  # type: ignore[misc]  # names that are computed
"""A row of the database takes ten times as long to ask for a column; a big run has as many of these as tasks."""


class View:
    """The database as a transaction that only reads sees it, and what somebody has `kept` beside it."""

    def __init__(self, connection: Connection, *, kept: Mapping[str, tuple[str, bytes]] | None = None) -> None:
        self._connection = connection
        self._kept = kept or {}

    def runs(self, *, suite: str | None = None) -> list[RunRow]:
        """All runs, or those on one suite, oldest first."""
        query = select(RunRow).order_by(RunRow.created_at, RunRow.id)
        with Session(self._connection, expire_on_commit=False) as session:
            return list(session.scalars(query if suite is None else query.where(RunRow.suite == suite)))

    def counts(self, runs: Iterable[RunRow]) -> list[tuple[RunRow, Any]]:
        """Every task of these runs, each beside its run: `env`, `task_id`, `planned` and the counters, in order of
        play."""
        found = []
        for run in runs:
            query = _COUNTED.where(TaskRow.run_id == run.id).order_by(TaskRow.position)
            found += [(run, _Counted._make(row)) for row in self._connection.execute(query).all()]
        return found

    def cached(self, keys: Iterable[str]) -> dict[str, tuple[str, bytes]]:
        """`{key: (version, data)}` of what was kept under these keys."""
        wanted = sorted(keys)
        query = select(DerivedRow.key, DerivedRow.version, DerivedRow.data)
        found = {
            key: (version, data)
            for some in chunks(wanted)
            for key, version, data in self._connection.execute(query.where(DerivedRow.key.in_(some)))
        }
        return found | {key: self._kept[key] for key in wanted if key in self._kept}

    def breaking_tasks(self, run: str) -> list[tuple[str, str, str]]:
        """`(env, task, error)` of the tasks with a slot on which all tries ended in the same `env_error`."""
        query = text(
            "SELECT v.env, v.task_id, MIN(v.error) FROM v_episodes v"
            " JOIN slots s ON s.run_id = v.run_id AND s.slot = v.slot AND s.state = 'lost'"
            " WHERE v.run_id = :run AND NOT v.superseded GROUP BY v.env, v.task_id, v.slot"
            " HAVING MIN(v.outcome) = 'env_error' AND MAX(v.outcome) = 'env_error'"
            " AND COUNT(DISTINCT COALESCE(v.error, '')) = 1 ORDER BY v.slot"
        )
        found = self._connection.execute(query, {"run": run})
        return list(dict.fromkeys((env, task, error or "") for env, task, error in found))
