"""The board from the store. A table whose runs have not changed since is read as it was computed, ranges and all.

What was computed is kept under the table's hash: over the state of every run in it, and over the code that computed it.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import agentenv.intervals
import agentenv.paired
from agentenv.protocol import digest_of
from evals import leaderboard as rows
from evals.leaderboard import ALL, Row, leaderboard, row_key
from evals.statistics.claims import metric_of
from evals.statistics.measure import Measure
from evals.statistics.published import Standing, read_published, standings
from evals.verify.marks import mark_of, marks, told_of

if TYPE_CHECKING:
    from evals.store.schema import RunRow, TaskRow
    from evals.store.store import Store

STATE = (
    "id", "agent", "agent_hash", "reference", "task_limit", "planned", "attempts", "created_at", "finished_at",
    "deleted_at", "seen", "tries", "valid", "lost", "reopened",
)  # fmt: skip
"""What changes with a run's results, and whatever else of it is in its row."""


def board(store: Store, *, suite: str | None = None) -> list[Row]:
    """The rows of every table, or of one suite's, as `leaderboard` makes them."""
    tables: dict[tuple[str, str, str], list[RunRow]] = defaultdict(list)
    for run in reversed(store.runs(suite=suite)):
        tables[run.suite, run.suite_hash, run.world_hash].append(run)
    keys = {table: digest_of(["board", *table]) for table in tables}
    hashes = {table: table_hash(runs) for table, runs in tables.items()}
    kept = store.cached(keys.values())
    found, fresh = [], {}
    for table in tables:
        version, data = kept.get(keys[table], ("", b""))
        if version == hashes[table]:
            found += [_row(item) for item in json.loads(data)]
            continue
        made = with_breaks(store, leaderboard(_tasks(store, table)), tables[table])
        computed = [replace(row, table_hash=hashes[table]) for row in made]
        fresh[keys[table]] = (hashes[table], json.dumps([asdict(row) for row in computed]).encode())
        found += computed
    if fresh:
        store.keep(fresh)
    return _with_marks(store, found, [run for table in tables.values() for run in table])


def _with_marks(store: Store, rows: list[Row], runs: list[RunRow]) -> list[Row]:
    """The rows with what verifications found; these come and go without the runs, so they are never kept with them."""
    pools: dict[tuple[str, ...], list[RunRow]] = defaultdict(list)
    for run in runs:
        pools[row_key(run)].append(run)
    found = marks(store, runs)
    shown = {run.id: mark_of(found.get(r.id) for r in pools[row_key(run)]) for run in runs}
    told = {run.id: [told_of(found[r.id]) for r in pools[row_key(run)] if r.id in found] for run in runs}
    return [replace(row, verified=shown[row.run], verifications=told[row.run]) for row in rows]


def with_breaks(store: Store, rows: Iterable[Row], runs: Iterable[RunRow]) -> list[Row]:
    """The rows with the tasks that break their environment, from the episodes of the runs that lost an attempt."""
    found: dict[tuple[str, ...], dict[str, tuple[str, str]]] = defaultdict(dict)
    keys = {}
    for run in runs:
        keys[run.id] = row_key(run)
        for env, task, error in store.breaking_tasks(run.id) if run.lost else ():
            found[keys[run.id]].setdefault(task, (env, error))
    return [
        replace(
            row,
            breaks_the_environment=[
                {"task": task, "error": error}
                for task, (env, error) in found[keys[row.run]].items()
                if row.env in (ALL, env)
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


def table_hash(runs: list[RunRow]) -> str:
    """Over the state of the runs and over the code."""
    states = [{name: getattr(run, name) for name in STATE} for run in sorted(runs, key=lambda run: run.id)]
    return digest_of([code_hash(), states])


@functools.cache
def code_hash() -> str:
    """Over the source of whatever computes a row."""
    own = Path(__file__).parent
    files = [
        Path(rows.__file__),
        Path(agentenv.intervals.__file__),
        Path(agentenv.paired.__file__),
        *sorted((own / "statistics").glob("*.py")),
    ]
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


def _tasks(store: Store, table: tuple[str, str, str]) -> Iterator[tuple[RunRow, TaskRow]]:
    suite, suite_hash, world_hash = table
    for run, task in store.tasks(suite=suite):
        if (run.suite_hash, run.world_hash) == (suite_hash, world_hash):
            yield run, task


def _row(item: dict[str, Any]) -> Row:
    return Row(**{**item, "measure": Measure(**item["measure"])})
