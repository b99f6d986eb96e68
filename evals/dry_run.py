"""What a run would play, printed in place of playing it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import typer


def print_dry_run(suites: Any, names: Sequence[str], *, concurrency: int, json: bool) -> None:
    """The plans of suites, and what playing them is likely to take."""
    from agentenv.cli.tables import print_json
    from evals.estimate import estimates
    from evals.report import print_plan

    found = [
        {**about, "suite": suite.name, "suite_hash": suite.hash, "attempts": plan.attempts}
        for suite, plan in suites
        for about in estimates(plan, names, concurrency=concurrency)
    ]
    if not json:
        for suite, plan in suites:
            print_plan(suite, plan, names)
        return _print_estimates(found)
    rows = [_dry_row(suite, plan, names) for suite, plan in suites]
    print_json({**(rows[0] if len(rows) == 1 else {}), "suites": rows, "estimates": found})


def _dry_row(suite: Any, plan: Any, names: Sequence[str]) -> dict[str, Any]:
    from dataclasses import asdict

    from evals.report import steps_at_most

    return {
        "suite": suite.name,
        "suite_hash": suite.hash,
        "agents": list(names),
        "tasks": len(plan.tasks),
        "attempts": plan.attempts,
        "episodes": plan.slots * len(names),
        "steps_at_most": steps_at_most(plan) * len(names),
        "envs": [asdict(world) for world in plan.worlds],
    }


def _print_estimates(found: Sequence[dict[str, Any]]) -> None:
    from evals.report import number, print_table

    print_table(
        [
            {
                "suite": row["suite"],
                "agent": row["agent"],
                "episodes": str(row["episodes"]),
                "tokens": number(row["tokens"], 0),
                "cost": number(row["cost"], 4),
                "seconds": number(row["seconds"], 0),
            }
            for row in found
        ]
    )
    typer.echo("Tokens, cost and seconds as in this agent's earlier episodes of these environments; - is unknown.")
    if any(row["seconds"] is None for row in found):
        typer.echo("To know more, play a few episodes of each first: the same command with --limit 2 and no --dry-run.")
