"""What is kept of a board, and how it is written: in the store, under what it was computed from."""

from __future__ import annotations

import functools
import hashlib
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from importlib.metadata import version
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import agentenv
from agentenv.protocol import digest_of
from evals.leaderboard import Row
from evals.statistics.measure import Measure
from evals.statistics.ranking import Attempts
from evals.statistics.tables import Claims

if TYPE_CHECKING:
    from evals.store.schema import RunRow
    from evals.store.view import View

STATE = (
    "id", "agent", "agent_hash", "reference", "task_limit", "planned", "attempts", "created_at", "finished_at",
    "deleted_at", "seen", "tries", "valid", "lost", "reopened",
)  # fmt: skip
"""What changes with a run's results, and whatever else of it is in its row."""

ROWS, ATTEMPTS, RANGES, CLAIMS = "rows", "attempts", "ranges", "claims"
"""Kinds of what is kept: of a pool and of a pool that is ranked, by the state of its runs; of a table, by the states of
its ranked pools; and by the code alone, since each claim names the states of the two pools that it is on."""

Place = tuple[str, ...]
"""What a pool or a table is known by."""


class Kept:
    """What a view of the database has kept, and what is to be kept of what was computed since."""

    def __init__(self, view: View, wanted: Iterable[tuple[str, Place]]) -> None:
        self._view = view
        self._found = view.cached(_key(kind, place) for kind, place in wanted)
        self.fresh: dict[str, tuple[str, bytes]] = {}
        """`{key: (state, data)}`"""

    def get(self, kind: str, place: Place, state: str) -> Any:
        """What is kept there of that state; None where there is nothing of it."""
        key = _key(kind, place)
        kept = self.fresh.get(key) or self._found.get(key) or self._view.cached([key]).get(key)
        return json.loads(kept[1]) if kept is not None and kept[0] == state else None

    def put(self, kind: str, place: Place, state: str, value: Any) -> None:
        """Keep it, in place of what is there."""
        self.fresh[_key(kind, place)] = state, json.dumps(value).encode()


def _key(kind: str, place: Place) -> str:
    return digest_of(["board", kind, *place])


def state_hash(runs: Iterable[RunRow]) -> str:
    """Over the state of the runs and over the code."""
    states = [{name: getattr(run, name) for name in STATE} for run in sorted(runs, key=lambda run: run.id)]
    return digest_of([code_hash(), states])


@functools.cache
def code_hash() -> str:
    """Over all source that a row may be computed by, and over what it computes with."""
    core, own = Path(agentenv.__file__).parent, Path(__file__).parent
    hashed = hashlib.sha256(f"numpy {version('numpy')}, Python {sys.version_info[:2]}".encode())
    for file in [*sorted(core.glob("*.py")), *sorted(own.rglob("*.py"))]:
        hashed.update(file.read_bytes())
    return hashed.hexdigest()


def rows_data(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Rows as JSON."""
    return [asdict(row) for row in rows]


def rows_from(data: Sequence[Mapping[str, Any]]) -> list[Row]:
    """The rows again, to the last bit."""
    return [Row(**{**item, "measure": Measure(**item["measure"])}) for item in data]


def attempts_data(found: Mapping[str, Attempts]) -> dict[str, Any]:
    """Attempts by env as JSON."""
    return {
        env: [part.success.tolist(), part.valid.tolist(), None if part.scores is None else part.scores.tolist()]
        for env, part in found.items()
    }


def attempts_from(data: Mapping[str, Any]) -> dict[str, Attempts]:
    """The attempts again."""
    import numpy as np

    return {
        env: Attempts(
            success=np.array(success, dtype=np.int64),
            valid=np.array(valid, dtype=np.int64),
            scores=None if scores is None else np.array(scores, dtype=np.float64),
        )
        for env, (success, valid, scores) in data.items()
    }


def claims_data(claims: Claims) -> dict[str, Any]:
    """By section its rows, and the p of every pair of them in order; pairs by name would take ten times as much."""
    found: dict[str, tuple[dict[str, None], list[float]]] = {}
    for (section, first, second), p in claims.items():
        rows, p_values = found.setdefault(section, ({}, []))
        rows |= {first: None, second: None}
        p_values.append(p)
    return {section: [list(rows), p_values] for section, (rows, p_values) in found.items()}


def claims_from(data: Mapping[str, Any]) -> dict[tuple[str, str, str], float]:
    """The claims again."""
    return {
        (section, first, second): p
        for section, (rows, p_values) in data.items()
        for (first, second), p in zip(combinations(rows, 2), p_values, strict=True)
    }
