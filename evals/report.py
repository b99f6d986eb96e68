"""What commands print of runs and boards: tables for people. Programs take the JSON."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

import typer

from evals.statistics.published import Comparability, Standing
from evals.web.texts import visible

if TYPE_CHECKING:
    from evals.leaderboard import Row
    from evals.plan import Plan
    from evals.statistics.measure import Measure
    from evals.suite import Suite

PIPE_WIDTH = 160
"""Columns of a table that goes to a file or a pipe, where nobody needs it folded."""

MALFORMED_WARNING = 0.2
"""Share of unreadable completions above which a low score is likely a matter of format."""

EXCERPT = 160
"""Characters of such a completion that are shown."""

BREAKING = 5
"""Tasks that break their environment, of each row, that are named; the JSON has all."""

UNKNOWN = ("tokens", "their tokens", "cost", "per success")
"""Columns that are left out where no row knows its number."""

Unread = Mapping[tuple[str, str], tuple[str, str]]
"""By run and env: a completion that was no action, and why not."""


def print_board(
    rows: Sequence[Row],
    published: Mapping[tuple[str, str], Sequence[Standing]] | None = None,
    unread: Unread | None = None,
) -> None:
    """One table for everything that may be compared; `published` scores by suite and world hash beside their like."""
    for (suite, suite_hash, world_hash), group in groupby(rows, key=lambda r: (r.suite, r.suite_hash, r.world_hash)):
        shown = list(group)
        several = len({(r.suite_hash, r.world_hash) for r in rows if r.suite == suite}) > 1
        mark = f" (suite {suite_hash[:8]}, worlds {world_hash[:8]})" if several else ""
        typer.echo(f"{suite}{mark}: {measured(shown[0].metric)} over tasks, with 95 % intervals")
        lines: list[dict[str, str]] = []
        standing = (published or {}).get((suite_hash, world_hash), ())
        for env, section in groupby(shown, key=lambda r: r.env):
            others = [s for s in standing if s.env == env and s.comparability is Comparability.EXACT]
            lines += [
                {**line, "env": env if i == 0 else ""} for i, line in enumerate(with_published(list(section), others))
            ]
            lines.append({})
        print_table(known_columns(lines[:-1]))
        for warning in [*dict.fromkeys(warnings(shown, unread)), *footnotes(standing)]:
            typer.echo(warning)


def measured(metric: str) -> str:
    """What tables call the suite's metric."""
    return "success rate" if metric == "success" else metric.replace("_", " ")


def with_published(rows: Sequence[Row], others: Sequence[Standing]) -> list[dict[str, Any]]:
    """The lines of a section: a published score stands after the ranked rows that are as good, and has no rank."""
    placed = [(-row.score, 0, _row(row)) for row in rows if row.rank is not None and row.score is not None]
    # a published score may come first, and the first line decides which columns there are
    blank = {name: "" for row in rows[:1] for name in _row(row)}
    placed += [(-standing.published.score, 1, {**blank, **_published(standing)}) for standing in others]
    return [
        *(line for *_, line in sorted(placed, key=lambda item: item[:2])),
        *(_row(row) for row in rows if row.rank is None),
    ]


def _published(standing: Standing) -> dict[str, Any]:
    score = standing.published
    name = "success" if score.metric == "success" else "score"
    return {
        "env": standing.env,
        "agent": score.agent,
        name: number(score.score, 3),
        "": f"not run here: {score.source}",
    }


def footnotes(standing: Sequence[Standing]) -> list[str]:
    """Published scores of the same engine that were made otherwise."""
    return [
        f"Published on {s.env}, not comparable ({', '.join(s.differs)} differ): {s.published.agent} "
        f"{number(s.published.score, 3)}, {s.published.source}, {s.published.date}"
        for s in standing
        if s.comparability is Comparability.SAME_ENGINE
    ]


def print_results(rows: Iterable[Row]) -> None:
    """Rows of single runs, each under its run's id."""
    print_table(known_columns([{"run": row.run, **_row(row), "rank": None, "runs": None} for row in rows]))


def known_columns(lines: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The lines without tokens and costs where nobody knows any."""
    idle = [name for name in UNKNOWN if all(line.get(name) in ("-", "", None) for line in lines)]
    return [{name: cell for name, cell in line.items() if name not in idle} for line in lines]


def _row(row: Row) -> dict[str, Any]:
    part = row.measure
    return {
        "env": row.env,
        "split": row.split or "",
        "rank": ranks(row.rank_low, row.rank_high),
        "agent": row.name,
        "runs": runs_text(row),
        "tasks": str(part.tasks),
        "attempts": str(part.attempts),
        "n": str(part.n),
        "inv.": invalid_text(part),
        "success": number(part.success, 3),
        "95% CI": span(part.ci_low, part.ci_high),
        "method": part.ci_method or "",
        "return": number(part.mean_return, 3),
        **(
            {}
            if row.metric == "success"
            else {"score": number(row.score, 3), "its CI": span(part.score_low, part.score_high)}
        ),
        "steps": number(part.mean_steps, 1),
        "no action": percent(part.malformed),
        "tokens": number(part.mean_tokens, 0),
        "cost": number(part.mean_cost, 4),
        "per success": number(part.cost_per_success, 4),
        "": "; ".join(filter(None, ("" if row.status == "ranked" else row.status, row.verified))),
    }


def ranks(low: int | None, high: int | None) -> str:
    """`1-3`, `2` where the data settle it, nothing for a row without a rank."""
    if low is None or high is None:
        return ""
    return str(low) if low == high else f"{low}-{high}"


def runs_text(row: Row) -> str:
    """`3 (1 open, 1 deleted, 2 later)`: the pooled runs, and what a reader should know about them."""
    counts = {"open": row.unfinished, "deleted": row.deleted, "later": row.extended, "attempts reopened": row.reopened}
    notes = [f"{count} {word}" for word, count in counts.items() if count]
    return f"{row.runs} ({', '.join(notes)})" if notes else str(row.runs)


def too_malformed(row: Row) -> bool:
    """Whether so many completions were no action that format, and not skill, is likely what was measured."""
    return row.env != "all" and row.measure.malformed is not None and row.measure.malformed > MALFORMED_WARNING


def format_problem(who: str, share: float, example: tuple[str, str] | None) -> str:
    """One line, with an example where one is at hand."""
    line = f"{who}: {share:.0%} of the answers were no action: likely a format problem"
    if example is None:
        return line
    text, reason = example
    shown = text if len(text) <= EXCERPT else text[:EXCERPT] + "..."
    return f"{line}, for example {shown!r} ({reason})"


def breaking(tasks: Sequence[Mapping[str, str]]) -> list[str]:
    """A line for each of the first tasks on which every try ended in the same error of the environment."""
    lines = [f"breaks the environment: {found['task']}: {visible(found['error'])}" for found in tasks[:BREAKING]]
    more = len(tasks) - BREAKING
    return [*lines, f"and {more} more tasks that break the environment"] if more > 0 else lines


def warnings(rows: Iterable[Row], unread: Unread | None = None) -> list[str]:
    """What a reader should know before believing a row; `unread` has examples of completions that were no action."""
    found = []
    for row in rows:
        part = row.measure
        if row.env == "all":
            found += _of_the_whole(row)
        if too_malformed(row):
            example = (unread or {}).get((row.run, row.env))
            found.append(format_problem(f"{row.agent} on {row.env}", part.malformed or 0.0, example))
        if part.invalid and row.env != "all":
            found.append(
                f"{row.agent} on {row.env}: {part.invalid} invalid; the rate lies in "
                f"{span(part.success_low, part.success_high)} whatever they would have been"
            )
    return found


def _of_the_whole(row: Row) -> list[str]:
    notes = []
    if row.configurations is not None and row.configurations > 1:
        notes.append(
            f"{row.agent}: {row.configurations} configurations of it ran on this test split; "
            "the best of several looks better than it is"
        )
    if row.dependent:
        notes.append(f"{row.agent}: attempts are not independent (temperature 0)")
    return [*notes, *breaking(row.breaks_the_environment)]


def print_plan(suite: Suite, plan: Plan, agents: Sequence[str]) -> None:
    """What a run would play."""
    print_table(
        [
            {
                "env": world.label,
                "split": world.split,
                "version": world.version,
                "tasks": str(sum(t.label == world.label for t in plan.tasks)),
                "attempts": str(plan.attempts),
                "episodes": str(sum(t.label == world.label for t in plan.tasks) * plan.attempts),
                "step limit": str(world.max_steps),
            }
            for world in plan.worlds
        ]
    )
    total = plan.slots * len(agents)
    typer.echo(f"{suite.name} {suite.hash[:8]}: {total} episodes of {', '.join(agents)}, {steps_at_most(plan)} steps")
    typer.echo("of each agent at most. Nothing was played or written.")


def steps_at_most(plan: Plan) -> int:
    """Steps of one agent when every episode goes to its limit; tasks with smaller limits make it fewer."""
    limits = {world.label: world.max_steps for world in plan.worlds}
    return plan.attempts * sum(limits[planned.label] for planned in plan.tasks)


def invalid_text(part: Measure) -> str:
    """`2`, or `2 (+5 retried)` when invalid tries were played again."""
    return f"{part.invalid} (+{part.retried} retried)" if part.retried else str(part.invalid)


def number(value: float | None, digits: int) -> str:
    """`0.733`; a dash for what is not known."""
    return "-" if value is None else f"{value:.{digits}f}"


def percent(share: float | None) -> str:
    """`12%`; a dash for what is not known."""
    return "-" if share is None else f"{share:.0%}"


def span(low: float | None, high: float | None) -> str:
    """`[0.556, 0.858]`; a dash for what is not known."""
    return "-" if low is None or high is None else f"[{low:.3f}, {high:.3f}]"


def print_table(rows: Sequence[dict[str, Any]]) -> None:
    """Rows under the keys of the first; a column whose cell is None in the first row is left out.

    Where the terminal is too narrow, the columns of `SPARE` go first, one by one.
    """
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    if not rows:
        return
    console = Console(width=None if sys.stdout.isatty() else PIPE_WIDTH)
    columns = fitting([name for name, cell in rows[0].items() if cell is not None], rows, console.width)
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, GAP - 1, 0, 0))
    for column in columns:
        table.add_column(column, justify="left" if column in LEFT else "right", overflow="fold")
    for row in rows:
        table.add_row(*(Text(row.get(column) or "") for column in columns))
    console.print(table, "")


def fitting(columns: Sequence[str], rows: Sequence[dict[str, Any]], width: int) -> list[str]:
    """The columns without those that must go for the table to fit `width`."""
    left = list(columns)
    need = {c: max(len(c), *(len(row.get(c) or "") for row in rows)) + GAP for c in columns}
    for spare in SPARE:
        if sum(need[c] for c in left) <= width:
            break
        left = [c for c in left if c != spare]
    return left


GAP = 2
"""Blanks between columns."""

SPARE = (
    "method",
    "attempts",
    "tasks",
    "its CI",
    "tokens",
    "same tasks",
    "split",
    "return",
    "runs",
    "bounds",
    "created",
)
"""Columns to do without on a narrow terminal, in the order in which they go."""

LEFT = frozenset(
    {
        "env",
        "agent",
        "run",
        "runs",
        "rank",
        "method",
        "suite",
        "split",
        "state",
        "created",
        "",
        "category",
        "outcome",
        "task",
    }
)
"""Columns of words; all others hold numbers."""
