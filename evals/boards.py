"""The board from the store: what was computed of an agent's runs is kept until one of them changes.

Kept are the rows of each pool, its attempts, and the claims of each table, all under what they were computed from: the
state of the runs, and the code. After a new episode the rows of its own pool are computed anew and, where it is ranked,
the claims on it.
"""

from __future__ import annotations

import functools
import hashlib
import json
import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import agentenv
from agentenv.protocol import digest_of
from evals.leaderboard import ALL, Entry, Row, attempts_of, pool_of, row_key, rows_of, table_rows
from evals.statistics.claims import metric_of
from evals.statistics.measure import Measure
from evals.statistics.published import Standing, read_published, standings
from evals.statistics.ranking import Attempts
from evals.statistics.tables import Claims
from evals.verify.marks import mark_of, marks, told_of

if TYPE_CHECKING:
    from evals.store.schema import RunRow
    from evals.store.store import Store
    from evals.store.view import View

STATE = (
    "id", "agent", "agent_hash", "reference", "task_limit", "planned", "attempts", "created_at", "finished_at",
    "deleted_at", "seen", "tries", "valid", "lost", "reopened",
)  # fmt: skip
"""What changes with a run's results, and whatever else of it is in its row."""

ROWS, ATTEMPTS, CLAIMS = "rows", "attempts", "claims"
"""Kinds of what is kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Board:
    """The rows of every table, and the runs that they are of, oldest first."""

    rows: list[Row]
    runs: list[RunRow]


def board(store: Store, *, suite: str | None = None) -> list[Row]:
    """The rows of every table, or of one suite's, as `leaderboard` makes them."""
    return read_board(store, suite=suite).rows


def read_board(store: Store, *, suite: str | None = None) -> Board:
    """The board of one state of the database."""
    with store.view() as view:
        runs = view.runs(suite=suite)
        pools: dict[tuple[str, ...], list[RunRow]] = defaultdict(list)
        for run in runs:
            pools[row_key(run)].append(run)
        desk = _Desk(view, pools)
        found = desk.rows()
    if desk.fresh:
        store.keep(desk.fresh)
    return Board(rows=_with_marks(store, found, pools), runs=runs)


class _Desk:
    """Where a board is put together from what is kept and what is not."""

    def __init__(self, view: View, pools: dict[tuple[str, ...], list[RunRow]]) -> None:
        self._view, self._pools = view, pools
        self._tables: dict[tuple[str, ...], list[tuple[str, ...]]] = defaultdict(list)
        for key in pools:
            self._tables[key[:3]].append(key)
        wanted = [_key(ROWS, key) for key in pools] + [_key(CLAIMS, table) for table in self._tables]
        self._kept = view.cached(wanted)
        self._states = {state_hash(runs): key for key, runs in pools.items()}
        self.fresh: dict[str, tuple[str, bytes]] = {}
        """What was computed, to be kept."""

    def rows(self) -> list[Row]:
        """Of every table."""
        keys = {key: state for state, key in self._states.items()}
        return [row for table, own in self._tables.items() for row in self._table(table, [keys[k] for k in own])]

    def _table(self, table: tuple[str, ...], states: Sequence[str]) -> list[Row]:
        entries = [
            Entry(key=state, runs=self._pools[self._states[state]], rows=self._rows_of(state)) for state in states
        ]
        known = _claims_from(self._kept.get(_key(CLAIMS, table), ("", b"{}"))[1])
        rows, claims = table_rows(entries, self._attempts, known=known)
        if claims.keys() != known.keys():
            self._keep(_key(CLAIMS, table), digest_of(states), _claims_data(claims))
        hashed = state_hash([run for entry in entries for run in entry.runs])
        return [replace(row, table_hash=hashed) for row in rows]

    def _rows_of(self, state: str) -> list[Row]:
        """Of one pool, without ranks."""
        key = self._states[state]
        kept, data = self._kept.get(_key(ROWS, key), ("", b""))
        if kept == state:
            return [_row(item) for item in json.loads(data)]
        runs = self._pools[key]
        pool = pool_of(self._view.counts(runs))
        rows = with_breaks(self._view, rows_of(pool), runs)
        self._keep(_key(ROWS, key), state, [asdict(row) for row in rows])
        if any(row.status == "ranked" for row in rows):
            self._keep(_key(ATTEMPTS, key), state, _attempts_data(attempts_of(pool)))
        return rows

    def _attempts(self, state: str) -> dict[str, Attempts]:
        """What a pool is tested by, in claims that are not known yet."""
        key = self._states[state]
        place = _key(ATTEMPTS, key)
        kept, data = self.fresh.get(place) or self._view.cached([place]).get(place, ("", b""))
        if kept == state:
            return _attempts_from(data)
        return attempts_of(pool_of(self._view.counts(self._pools[key])))

    def _keep(self, key: str, state: str, value: Any) -> None:
        self.fresh[key] = state, json.dumps(value).encode()


def _key(kind: str, place: tuple[str, ...]) -> str:
    return digest_of(["board", kind, *place])


def _with_marks(store: Store, rows: list[Row], pools: dict[tuple[str, ...], list[RunRow]]) -> list[Row]:
    """The rows with what verifications found; these come and go without the runs, so they are never kept with them."""
    found = marks(store, [run for runs in pools.values() for run in runs])
    own = {run.id: runs for runs in pools.values() for run in runs}
    return [
        replace(
            row,
            verified=mark_of(found.get(run.id) for run in own[row.run]),
            verifications=[told_of(found[run.id]) for run in own[row.run] if run.id in found],
        )
        for row in rows
    ]


def with_breaks(store: Store | View, rows: Iterable[Row], runs: Iterable[RunRow]) -> list[Row]:
    """The rows of one pool with the tasks that break their environment, from the episodes of its runs that lost an
    attempt."""
    found: dict[str, tuple[str, str]] = {}
    for run in runs:
        for env, task, error in store.breaking_tasks(run.id) if run.lost else ():
            found.setdefault(task, (env, error))
    return [
        replace(
            row,
            breaks_the_environment=[
                {"task": task, "error": error} for task, (env, error) in found.items() if row.env in (ALL, env)
            ],
        )
        for row in rows
    ]


def published_beside(
    store: Store, files: Iterable[Path], *, suite: str | None = None
) -> dict[tuple[str, str], list[Standing]]:
    """The published scores of these files that may stand with each table, by its suite and world hash."""
    scores = [score for file in files for score in read_published(file)]
    found: dict[tuple[str, str], list[Standing]] = {}
    for run in store.runs(suite=suite) if scores else []:
        table = (run.suite_hash, run.world_hash)
        if table not in found:
            found[table] = standings(scores, run.worlds, metric_of(run))
    return found


def state_hash(runs: Iterable[RunRow]) -> str:
    """Over the state of the runs and over the code."""
    states = [{name: getattr(run, name) for name in STATE} for run in sorted(runs, key=lambda run: run.id)]
    return digest_of([code_hash(), states])


@functools.cache
def code_hash() -> str:
    """Over the source of whatever computes a row, and over what it computes with."""
    here, core = Path(__file__).parent, Path(agentenv.__file__).parent
    files = [
        *(here / name for name in ("boards.py", "leaderboard.py", "people.py", "plan.py", "store/view.py")),
        *(core / name for name in ("intervals.py", "paired.py", "protocol.py")),
        *sorted((here / "statistics").glob("*.py")),
    ]
    used = f"numpy {version('numpy')}, Python {sys.version}"
    return hashlib.sha256(b"".join(file.read_bytes() for file in files) + used.encode()).hexdigest()


def _row(item: dict[str, Any]) -> Row:
    return Row(**{**item, "measure": Measure(**item["measure"])})


def _attempts_data(found: dict[str, Attempts]) -> dict[str, Any]:
    return {
        env: [part.success.tolist(), part.valid.tolist(), None if part.scores is None else part.scores.tolist()]
        for env, part in found.items()
    }


def _attempts_from(data: bytes) -> dict[str, Attempts]:
    import numpy as np

    return {
        env: Attempts(
            success=np.array(success, dtype=np.int64),
            valid=np.array(valid, dtype=np.int64),
            scores=None if scores is None else np.array(scores, dtype=np.float64),
        )
        for env, (success, valid, scores) in json.loads(data).items()
    }


def _claims_data(claims: Claims) -> dict[str, Any]:
    """By section the rows, and the p of every pair of them in order: a key for each pair would take ten times as
    much."""
    sections: dict[str, dict[str, Any]] = {}
    for (section, first, second), p in claims.items():
        own = sections.setdefault(section, {"rows": {}, "p": []})
        own["rows"] |= {first: None, second: None}
        own["p"].append(p)
    return {name: {"rows": list(own["rows"]), "p": own["p"]} for name, own in sections.items()}


def _claims_from(data: bytes) -> dict[tuple[str, str, str], float]:
    return {
        (section, first, second): p
        for section, own in json.loads(data).items()
        for (first, second), p in zip(combinations(own["rows"], 2), own["p"], strict=True)
    }
