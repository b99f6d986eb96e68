"""Rank ranges of a whole table: every pair of every section is one claim, and all claims share one error rate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agentenv.intervals import seed_of
from evals.statistics.measure import Tally
from evals.statistics.pairs import MEAN_SCORE
from evals.statistics.ranking import Results, holm, pair_p_values, rank_ranges


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """A ranked row as the tests see it. All rows of a section have valid attempts at the same tasks."""

    score: float | None
    metric: str
    tasks: Mapping[str, Mapping[str, Tally]]
    """By env, then by task."""


def table_ranges(sections: Mapping[str, Mapping[str, Played]], *, seed: str) -> dict[str, dict[str, tuple[int, int]]]:
    """`(rank_low, rank_high)` by section and row; a section over a single env repeats that env's claims."""
    claims: dict[tuple[str, int, int], float] = {}
    for name, rows in sections.items():
        if not _repeats(name, sections):
            found = pair_p_values(results_of(list(rows.values())), seed=seed_of(seed, name))
            claims |= {(name, i, j): p for (i, j), p in found.items()}
    adjusted = holm(claims)
    return {
        name: _ranges(
            rows, {(i, j): p for (section, i, j), p in adjusted.items() if section == _source(name, sections)}
        )
        for name, rows in sections.items()
    }


def _ranges(rows: Mapping[str, Played], adjusted: Mapping[tuple[int, int], float]) -> dict[str, tuple[int, int]]:
    scores = [row.score if row.score is not None else 0.0 for row in rows.values()]
    return {run: (r.low, r.high) for run, r in zip(rows, rank_ranges(scores, adjusted), strict=True)}


def _repeats(name: str, sections: Mapping[str, Mapping[str, Played]]) -> bool:
    return _source(name, sections) != name


def _source(name: str, sections: Mapping[str, Mapping[str, Played]]) -> str:
    """The section that holds the claims of this one: the only env's for the row over all envs of a suite with one."""
    envs = {env for row in sections[name].values() for env in row.tasks}
    only = next(iter(envs)) if len(envs) == 1 else name
    return only if list(sections.get(only, ())) == list(sections[name]) else name


def results_of(rows: Sequence[Played]) -> Results:
    """The rows as arrays, tasks in one order."""
    import numpy as np

    if not rows:
        return Results(success=[], valid=[])
    envs = {env: sorted(tasks) for env, tasks in rows[0].tasks.items()}
    tallies = [[[row.tasks[env][task] for task in tasks] for row in rows] for env, tasks in envs.items()]
    graded = rows[0].metric == MEAN_SCORE
    return Results(
        success=[np.array([[t.success for t in row] for row in part]) for part in tallies],
        valid=[np.array([[t.valid for t in row] for row in part]) for part in tallies],
        scores=[np.array([[t.mean_score for t in row] for row in part]) for part in tallies] if graded else None,
    )
