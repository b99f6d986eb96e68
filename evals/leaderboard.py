"""The board: each agent on a suite, all its runs pooled, with what the data allow to say.

One table holds what may be compared: the same suite hash in the same worlds (env versions, task digests, limits). Runs
of one agent hash are further attempts of one row, so nobody can publish the best of several. Runs under `--limit` have
rows of their own. Only complete rows of agents that are not told the solution have a rank.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from evals.statistics.measure import Measure, Tally, measure, over_envs

if TYPE_CHECKING:
    from evals.store.schema import RunRow, TaskRow

ALL = "all"
"""The `env` of a row over every env of the suite."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One agent on one env of a suite, or on `all` of it."""

    suite: str
    suite_hash: str
    world_hash: str
    world: str | None
    """Name of the env's own world; None over several."""
    split: str | None
    agent: str
    agent_hash: str
    reference: bool
    run: str
    """The latest of the pooled runs."""
    runs: int
    unfinished: int
    """Of those, how many were not played to their end."""
    env: str
    measure: Measure
    rank: int | None = None
    """1 is best; None for rows that are not ranked."""

    @property
    def score(self) -> float | None:
        """What the board sorts by: the success rate."""
        return self.measure.success

    @property
    def status(self) -> str:
        """`ranked`, `reference`, or why it is neither."""
        return self.measure.problem or ("reference" if self.reference else "ranked")

    def to_json(self) -> dict[str, Any]:
        """One flat object; its keys are stable."""
        own = {name: getattr(self, name) for name in self.__dataclass_fields__ if name != "measure"}
        return {**own, **asdict(self.measure), "score": self.score, "status": self.status}


def leaderboard(data: Iterable[tuple[RunRow, TaskRow]]) -> list[Row]:
    """The rows of every table, ranked within table and env, in the order in which they are shown."""
    pools: dict[tuple[str, ...], list[tuple[RunRow, TaskRow]]] = defaultdict(list)
    for run, task in data:
        key = (run.suite, run.suite_hash, run.world_hash, run.agent_hash, str(run.task_limit))
        pools[key].append((run, task))
    sections: dict[tuple[str, str, str, str], list[Row]] = defaultdict(list)
    for pool in pools.values():
        for row in pooled_rows(pool):
            sections[row.suite, row.suite_hash, row.world_hash, row.env].append(row)
    return [row for rows in sections.values() for row in ranked(rows)]


def pooled_rows(data: Sequence[tuple[RunRow, TaskRow]]) -> list[Row]:
    """The rows of one agent on one suite: `all` of it first, then env by env in the suite's order."""
    runs = {run.id: run for run, _ in data}
    whole = _whole(data)
    tallies: dict[str, dict[str, Tally]] = defaultdict(lambda: defaultdict(Tally))
    for _, task in data:
        tallies[task.env][task.task_id].add(task)
    worlds = next(iter(runs.values())).worlds
    measures = [
        measure(
            list(tallies[world["label"]].values()),
            seed=[*sorted(runs), world["label"]],
            suite_tasks=world["tasks"],
            whole=whole[world["label"]],
        )
        for world in worlds
    ]
    splits = {world["split"] for world in worlds}
    total = _row(runs.values(), over_envs(measures), env=ALL, split=splits.pop() if len(splits) == 1 else None)
    return [
        total,
        *(
            _row(runs.values(), part, env=world["label"], split=world["split"], world=world["world"] or None)
            for world, part in zip(worlds, measures, strict=True)
        ),
    ]


def _row(runs: Iterable[RunRow], part: Measure, *, env: str, split: str | None, world: str | None = None) -> Row:
    """A row without a rank."""
    pooled = sorted(runs, key=lambda run: (run.created_at, run.id))
    latest = pooled[-1]
    return Row(
        suite=latest.suite,
        suite_hash=latest.suite_hash,
        world_hash=latest.world_hash,
        world=world,
        split=split,
        agent=latest.agent,
        agent_hash=latest.agent_hash,
        reference=latest.reference,
        run=latest.id,
        runs=len(pooled),
        unfinished=sum(run.finished_at is None for run in pooled),
        env=env,
        measure=part,
    )


def ranked(rows: Sequence[Row]) -> list[Row]:
    """One section of a table: ranked rows by score, then references, then those that may not be ranked."""
    ranks = [row.score for row in rows if row.status == "ranked" and row.score is not None]
    placed = [
        replace(row, rank=1 + sum(other > row.score for other in ranks))
        if row.status == "ranked" and row.score is not None
        else row
        for row in rows
    ]
    return sorted(placed, key=_place)


def _place(row: Row) -> tuple[int, float, str, str]:
    kind = 0 if row.rank is not None else 1 if row.status == "reference" else 2
    return kind, -(row.score if row.score is not None else -1.0), row.agent, row.run


def _whole(data: Iterable[tuple[RunRow, TaskRow]]) -> dict[str, bool]:
    """For each env, whether one of the runs has settled every attempt that the suite asks for."""
    settled: dict[tuple[str, str], int] = defaultdict(int)
    wanted: dict[tuple[str, str], int] = {}
    for run, task in data:
        settled[run.id, task.env] += task.valid + task.lost
        tasks = next(world["tasks"] for world in run.worlds if world["label"] == task.env)
        wanted[run.id, task.env] = tasks * run.attempts
    whole: dict[str, bool] = defaultdict(bool)
    for (run_id, env), done in settled.items():
        whole[env] |= done >= wanted[run_id, env]
    return whole
