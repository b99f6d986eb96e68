"""The board from the store: what was computed of an agent's runs is kept until one of them changes.

After a new episode the rows of its own pool are computed anew and, where that is ranked, the claims on it. All that is
read is of one state of the database, so that what is kept under a state was computed from it, whatever others write.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from agentenv.protocol import digest_of
from evals.kept import (
    ATTEMPTS,
    CLAIMS,
    RANGES,
    ROWS,
    Kept,
    Place,
    attempts_data,
    attempts_from,
    claims_data,
    claims_from,
    code_hash,
    rows_data,
    rows_from,
    state_hash,
)
from evals.leaderboard import ALL, Entry, Row, attempts_of, pool_of, row_key, rows_of, table_rows
from evals.statistics.claims import metric_of
from evals.statistics.published import Standing, read_published, standings
from evals.statistics.ranking import Attempts
from evals.statistics.tables import Sections, table_ranges
from evals.verify.marks import mark_of, marks, told_of

if TYPE_CHECKING:
    from evals.store.schema import RunRow
    from evals.store.store import Store
    from evals.store.view import View


@dataclass(frozen=True, slots=True, kw_only=True)
class Board:
    """The rows of every table, and the runs that they are of, oldest first."""

    rows: list[Row]
    runs: list[RunRow]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pool:
    """The runs of one agent that are one row."""

    place: Place
    runs: list[RunRow]
    state: str


def board(store: Store, *, suite: str | None = None) -> list[Row]:
    """The rows of every table, or of one suite's, as `leaderboard` makes them."""
    return read_board(store, suite=suite).rows


def read_board(store: Store, *, suite: str | None = None) -> Board:
    """The board as it is at this moment."""
    with store.view() as view:
        runs = view.runs(suite=suite)
        rows, fresh = put_together(view, runs)
    if fresh:
        store.keep(fresh)
    return Board(rows=_with_marks(store, rows, runs), runs=runs)


def put_together(view: View, runs: Sequence[RunRow]) -> tuple[list[Row], dict[str, tuple[str, bytes]]]:
    """The rows of these runs, and what is to be kept because nobody had."""
    tables: dict[Place, list[_Pool]] = defaultdict(list)
    for place, own in pooled(runs).items():
        tables[place[:3]].append(_Pool(place=place, runs=own, state=state_hash(own)))
    places = [(ROWS, pool.place) for pools in tables.values() for pool in pools]
    kept = Kept(view, [*places, *((RANGES, table) for table in tables)])
    rows = [row for table, pools in tables.items() for row in _table(view, kept, table, pools)]
    return rows, kept.fresh


def pooled(runs: Iterable[RunRow]) -> dict[Place, list[RunRow]]:
    """The runs by the row that they are pooled in."""
    found: dict[Place, list[RunRow]] = defaultdict(list)
    for run in runs:
        found[row_key(run)].append(run)
    return found


def _table(view: View, kept: Kept, table: Place, pools: Sequence[_Pool]) -> list[Row]:
    entries = [Entry(key=pool.state, runs=pool.runs, rows=_rows(view, kept, pool)) for pool in pools]
    by_state = {pool.state: pool for pool in pools}

    def ranges_of(sections: Sections) -> dict[str, dict[str, tuple[int, int]]]:
        keys = {env: {run: row.key for run, row in rows.items()} for env, rows in sections.items()}
        state = digest_of([code_hash(), keys])
        found = kept.get(RANGES, table, state)
        if found is not None:
            return dict(found)
        known = claims_from(kept.get(CLAIMS, table, code_hash()) or {})
        made = table_ranges(
            sections, attempts=lambda state: _attempts(view, kept, by_state[state]), seed=table, known=known
        )
        kept.put(CLAIMS, table, code_hash(), claims_data(made.claims))
        kept.put(RANGES, table, state, made.ranges)
        return made.ranges

    rows = table_rows(entries, ranges_of)
    hashed = state_hash(run for pool in pools for run in pool.runs)
    return [replace(row, table_hash=hashed) for row in rows]


def _rows(view: View, kept: Kept, pool: _Pool) -> list[Row]:
    """Of one pool, without ranks."""
    found = kept.get(ROWS, pool.place, pool.state)
    if found is not None:
        return rows_from(found)
    counted = pool_of(view.counts(pool.runs))
    rows = with_breaks(view, rows_of(counted), pool.runs)
    kept.put(ROWS, pool.place, pool.state, rows_data(rows))
    if any(row.status == "ranked" for row in rows):
        kept.put(ATTEMPTS, pool.place, pool.state, attempts_data(attempts_of(counted)))
    return rows


def _attempts(view: View, kept: Kept, pool: _Pool) -> dict[str, Attempts]:
    """What a pool is tested by, in claims that are not known yet."""
    found = kept.get(ATTEMPTS, pool.place, pool.state)
    return attempts_of(pool_of(view.counts(pool.runs))) if found is None else attempts_from(found)


def _with_marks(store: Store, rows: Iterable[Row], runs: Sequence[RunRow]) -> list[Row]:
    """The rows with what verifications found; these come and go without the runs, so they are never kept with them."""
    found = marks(store, runs)
    own = {run.id: pool for pool in pooled(runs).values() for run in pool}
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
