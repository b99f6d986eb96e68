"""The leaderboard: one table for what may be compared, with what the data allow to say."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

from starlette.responses import Response

from evals.boards import pooled
from evals.leaderboard import ALL, Row
from evals.report import invalid_text, measured, ranks, runs_text, warnings
from evals.store.database import reading
from evals.web import plots, queries, spreadsheet
from evals.web.site import Site, asked

if TYPE_CHECKING:
    from starlette.requests import Request

    from evals.store.schema import RunRow

FILTERS = ("suite", "env", "split", "agent")

COLUMNS = (
    "suite", "suite_hash", "world_hash", "env", "split", "rank_low", "rank_high", "agent", "run", "runs", "metric",
    "score", "success", "ci_low", "ci_high", "ci_method", "success_low", "success_high", "tasks", "attempts", "n",
    "invalid", "mean_return", "mean_steps", "malformed", "status", "verified", "cost", "tokens",
)  # fmt: skip
"""Of the CSV."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A row as it is shown."""

    row: Row
    rank: str
    runs: str
    invalid: str
    bar: plots.Bar | None
    low: float | None
    high: float | None
    cost: float | None
    """Of a valid attempt, on average, in the price table's currency."""
    tokens: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One env of a table, or all of it."""

    env: str
    lines: list[Line]


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """What may be compared."""

    suite: str
    mark: str
    """Beginnings of the hashes, where a suite has several tables."""
    measured: str
    metric: str
    sections: list[Section]
    notes: list[str]
    scatter: plots.Scatter | None


def page(site: Site, request: Request) -> Response:
    """The tables that the filters leave."""
    wanted = filters(request)
    everything, lines = shown(site, wanted)
    with reading(site.store.engine) as connection:
        suites = queries.suites(connection)
    choices = {
        "suite": suites,
        "env": list(dict.fromkeys(row.env for row in everything)),
        "split": sorted({row.split for row in everything if row.split}),
        "agent": sorted({row.agent for row in everything}),
    }
    return site.render(request, "leaderboard.html", wanted=wanted, choices=choices, tables=tables(lines))


def as_csv(site: Site, request: Request) -> Response:
    """The same rows for a spreadsheet."""
    _, lines = shown(site, filters(request))
    text = spreadsheet.table(COLUMNS, ([_flat(line)[name] for name in COLUMNS] for line in lines))
    headers = {"content-disposition": 'attachment; filename="leaderboard.csv"'}
    return Response(text, media_type="text/csv", headers=headers)


def filters(request: Request) -> dict[str, str]:
    """What the query asks for."""
    return {name: asked(request, name) for name in FILTERS}


def shown(site: Site, wanted: dict[str, str]) -> tuple[list[Row], list[Line]]:
    """All rows of the suite, and the lines of those that the filters leave. Ranks are over the whole table."""
    found = site.board()
    everything = [row for row in found.rows if not wanted["suite"] or row.suite == wanted["suite"]]
    rows = [
        row
        for row in everything
        if (not wanted["env"] or row.env == wanted["env"])
        and (not wanted["split"] or row.split == wanted["split"])
        and (not wanted["agent"] or row.agent == wanted["agent"])
    ]
    return everything, list(_lines(site, rows, found.runs))


def _lines(site: Site, rows: Sequence[Row], runs: Sequence[RunRow]) -> Iterable[Line]:
    own = {run.id: pool for pool in pooled(runs).values() for run in pool}
    for row in rows:
        pool = own[row.run]
        part = row.measure
        low, high = (part.ci_low, part.ci_high) if row.metric == "success" else (part.score_low, part.score_high)
        cost, tokens = _spent(site, pool, row.env)
        yield Line(
            row=row,
            rank=ranks(row.rank_low, row.rank_high),
            runs=runs_text(row),
            invalid=invalid_text(part),
            bar=_bar(row, low, high, rows),
            low=low,
            high=high,
            cost=cost,
            tokens=tokens,
        )


def _bar(row: Row, low: float | None, high: float | None, rows: Sequence[Row]) -> plots.Bar | None:
    if row.metric == "success":
        return plots.bar(row.score, low, high, bounds=(row.measure.success_low, row.measure.success_high))
    table = [other for other in rows if (other.suite_hash, other.env) == (row.suite_hash, row.env)]
    ends = [v for o in table for v in (o.score, o.measure.score_low, o.measure.score_high) if v is not None]
    return plots.bar(row.score, low, high, least=min(0.0, *ends), most=max(1.0, *ends)) if ends else None


def _spent(site: Site, pool: Sequence[RunRow], env: str) -> tuple[float | None, float | None]:
    """Mean cost and mean tokens of an attempt, of those that say."""
    sums = [0.0, 0, 0.0, 0]
    for run in pool:
        for label, found in _spending(site, run).items():
            if env in (ALL, label):
                sums = [total + more for total, more in zip(sums, found, strict=True)]
    cost, priced, tokens, told = sums
    return cost / priced if priced else None, tokens / told if told else None


def _spending(site: Site, run: RunRow) -> dict[str, tuple[float, int, int, int]]:
    def compute() -> dict[str, tuple[float, int, int, int]]:
        with reading(site.store.engine) as connection:
            return queries.spending(connection, run.id)

    return site.spending.of((run.id, run.tries, run.reopened), compute)


def tables(lines: Sequence[Line]) -> list[Table]:
    """The lines apart by table and section, in the order that the board gives them."""
    keys = {(line.row.suite, line.row.suite_hash, line.row.world_hash) for line in lines}
    found = []
    for (suite, suite_hash, world_hash), group in groupby(
        lines, key=lambda line: (line.row.suite, line.row.suite_hash, line.row.world_hash)
    ):
        own = list(group)
        several = sum(key[0] == suite for key in keys) > 1
        sections = [Section(env=env, lines=list(part)) for env, part in groupby(own, key=lambda line: line.row.env)]
        found.append(
            Table(
                suite=suite,
                mark=f"suite {suite_hash[:8]}, worlds {world_hash[:8]}" if several else "",
                measured=measured(own[0].row.metric),
                metric=own[0].row.metric,
                sections=sections,
                notes=list(dict.fromkeys(warnings(line.row for line in own))),
                scatter=_scatter(sections[0].lines),
            )
        )
    return found


def _scatter(lines: Sequence[Line]) -> plots.Scatter | None:
    return plots.scatter(
        [
            plots.Point(name=line.row.agent, cost=line.cost, score=line.row.score, low=line.low, high=line.high)
            for line in lines
            if line.cost is not None and line.row.score is not None and line.row.status in ("ranked", "reference")
        ]
    )


def _flat(line: Line) -> dict[str, Any]:
    return {**line.row.to_json(), "cost": line.cost, "tokens": line.tokens}
