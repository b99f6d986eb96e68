"""One run in full: what was measured, how episodes ended, where categories differ, which tasks break their env."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

import typer

from evals.leaderboard import pooled_rows
from evals.report import number, print_table, span

if TYPE_CHECKING:
    from evals.store.schema import RunRow
    from evals.store.store import Store

FEW = 10
"""Categories of fewer tasks are shown as raw counts, without a rate."""


def about(store: Store, run: RunRow) -> dict[str, Any]:
    """Everything that `agentenv eval show` tells, as JSON values."""
    data = store.tasks(run=run.id)
    progress = store.progress(run.id)
    categories: dict[tuple[str, str], list[int]] = defaultdict(lambda: [0, 0, 0])
    for _, task in data:
        counts = categories[task.env, task.category]
        counts[0], counts[1], counts[2] = counts[0] + 1, counts[1] + task.success, counts[2] + task.valid
    return {
        "run": run.id,
        "suite": run.suite,
        "suite_hash": run.suite_hash,
        "agent": run.agent,
        "agent_hash": run.agent_hash,
        "description": run.agent_data,
        "created_at": run.created_at,
        "finished_at": run.finished_at,
        "stopped": run.stopped,
        "planned": progress.planned,
        "valid": progress.valid,
        "invalid": progress.lost,
        "worlds": run.worlds,
        "software": run.software,
        "rows": [row.to_json() for row in pooled_rows(data)],
        "outcomes": [
            {"env": env, "outcome": outcome, "count": count} for env, outcome, count in store.outcomes(run.id)
        ],
        "categories": [
            {"env": env, "category": category, "tasks": tasks, "success": k, "n": n}
            for (env, category), (tasks, k, n) in sorted(categories.items())
        ],
        "breaks_the_environment": [{"task": task, "error": error} for task, error in store.breaking_tasks(run.id)],
    }


def print_about(facts: dict[str, Any]) -> None:
    """The same for people."""
    typer.echo(f"{facts['run']}: {facts['agent']} on {facts['suite']} ({facts['suite_hash'][:8]})")
    typer.echo(f"begun {facts['created_at'][:19]}, {facts['valid']} valid and {facts['invalid']} invalid")
    typer.echo(f"of {facts['planned']} planned episodes; agent {facts['agent_hash'][:8]}: {facts['description']}")
    if facts["finished_at"] is None:
        typer.echo(f"not finished ({facts['stopped'] or 'running, or killed'}): agentenv eval resume {facts['run']}")
    print_table([_line(row) for row in facts["rows"]])
    print_table([{"env": o["env"], "outcome": o["outcome"], "episodes": str(o["count"])} for o in facts["outcomes"]])
    print_table([_category(c) for c in facts["categories"] if c["category"]])
    for broken in facts["breaks_the_environment"]:
        typer.echo(f"breaks the environment: {broken['task']}: {broken['error']}")
    typer.echo("Next: agentenv leaderboard")


def _line(row: dict[str, Any]) -> dict[str, Any]:
    return {
        "env": row["env"],
        "tasks": str(row["tasks"]),
        "n": str(row["n"]),
        "invalid": str(row["invalid"]),
        "success": number(row["success"], 3),
        "bounds": span(row["success_low"], row["success_high"]),
        "95% CI": span(row["ci_low"], row["ci_high"]),
        "method": row["ci_method"] or "",
        "same tasks": span(row["rerun_low"], row["rerun_high"]),
        "return": number(row["mean_return"], 3),
        "its CI": span(row["return_low"], row["return_high"]),
        "steps": number(row["mean_steps"], 1),
        "to success": number(row["success_steps"], 1),
    }


def _category(row: dict[str, Any]) -> dict[str, Any]:
    rate = row["success"] / row["n"] if row["n"] and row["tasks"] >= FEW else None
    return {
        "env": row["env"],
        "category": row["category"],
        "tasks": str(row["tasks"]),
        "k/n": f"{row['success']}/{row['n']}",
        "rate": number(rate, 3),
    }
