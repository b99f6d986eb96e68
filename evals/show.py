"""One run in full: what was measured, how episodes ended, where categories differ, which tasks break their env. Or one
suite: what it can tell apart."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from statistics import fmean
from typing import TYPE_CHECKING, Any

import typer

from agentenv.intervals import Interval, PassK, mean_pass_at_k, mean_pass_hat_k, seed_of, success_interval
from evals.leaderboard import is_greedy, pooled_rows
from evals.report import breaking, format_problem, known_columns, number, percent, print_table, span, too_malformed
from evals.statistics.independence import LOOKED_AT, repeats
from evals.statistics.measure import ks
from evals.statistics.planning import RANKING
from evals.verify.marks import marks

if TYPE_CHECKING:
    from evals.leaderboard import Row
    from evals.store.schema import RunRow, TaskRow
    from evals.store.store import Store

FEW = 10
"""Categories of fewer tasks are shown as raw counts, without a rate and without an interval."""


def about(store: Store, run: RunRow, *, partial: bool = False) -> dict[str, Any]:
    """Everything that `agentenv eval show` tells, as JSON values.

    `partial` shows pass@k over the tasks that have k attempts, where others have fewer.
    """
    data = store.tasks(run=run.id)
    rows = pooled_rows(data)
    progress = store.progress(run.id)
    alike = repeats(
        store.actions(run.id, tasks=LOOKED_AT) if run.attempts > 1 else (), greedy=is_greedy(run.agent_data)
    )
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
        "tries": run.tries,
        "prompt_tokens": run.prompt_tokens,
        "completion_tokens": run.completion_tokens,
        "cost": run.cost if run.priced else None,
        "reopened": run.reopened,
        "deleted_at": run.deleted_at,
        "journal": run.journal,
        "worlds": run.worlds,
        "software": run.software,
        "rows": [row.to_json() for row in rows],
        "outcomes": [
            {"env": env, "outcome": outcome, "count": count} for env, outcome, count in store.outcomes(run.id)
        ],
        "categories": categories([task for _, task in data]),
        "pass_at_k": pass_table([task for _, task in data], run=run.id, partial=partial),
        "repeats": {**asdict(alike), "dependent": alike.dependent},
        "breaks_the_environment": [{"task": task, "error": error} for _, task, error in store.breaking_tasks(run.id)],
        "format_problems": format_problems(store, rows),
        "verified": marks(store, [run]).get(run.id),
    }


def format_problems(store: Store, rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Where most completions that failed were no action: env, share and one example."""
    return [
        {"env": row.env, "share": row.measure.malformed, "text": example[0], "reason": example[1]}
        for row in rows
        if too_malformed(row) and (example := store.unread(row.run, row.env)) is not None
    ]


def unread_of(store: Store, rows: Sequence[Row]) -> dict[tuple[str, str], tuple[str, str]]:
    """By run and env: a completion that was no action, for the rows that have too many of them."""
    found = {(row.run, row.env): store.unread(row.run, row.env) for row in rows if too_malformed(row)}
    return {place: example for place, example in found.items() if example is not None}


def categories(tasks: Sequence[TaskRow]) -> list[dict[str, Any]]:
    """Each category of each env: counts, and from ten tasks on the mean rate over tasks with its interval."""
    found: dict[tuple[str, str], list[TaskRow]] = defaultdict(list)
    for task in tasks:
        found[task.env, task.category].append(task)
    return [_category_of(env, category, rows) for (env, category), rows in sorted(found.items())]


def _category_of(env: str, category: str, rows: Sequence[TaskRow]) -> dict[str, Any]:
    counts = [(row.success, row.valid) for row in rows if row.valid]
    enough = len(rows) >= FEW and bool(counts)
    interval = success_interval(counts) if enough else None
    return {
        "env": env,
        "category": category,
        "tasks": len(rows),
        "success": sum(c for c, _ in counts),
        "n": sum(n for _, n in counts),
        "rate": fmean(c / n for c, n in counts) if enough else None,
        **_bounds(interval, "ci_"),
        "ci_method": interval.method if interval else None,
    }


def pass_table(tasks: Sequence[TaskRow], *, run: str, partial: bool) -> list[dict[str, Any]]:
    """pass@k and pass^k of each env for k = 1, 2, 4, ... up to the attempts that were planned; none for one attempt."""
    envs: dict[str, list[tuple[int, int]]] = defaultdict(list)
    most: dict[str, int] = defaultdict(int)
    for task in tasks:
        envs[task.env].append((task.success, task.valid))
        most[task.env] = max(most[task.env], task.planned)
    rows = []
    for env, counts in envs.items():
        for k in ks(most[env]) if most[env] > 1 else []:
            at = _pass(counts, k, partial, mean_pass_at_k, seed_of(run, env, f"pass@{k}"))
            hat = _pass(counts, k, partial, mean_pass_hat_k, seed_of(run, env, f"pass^{k}"))
            rows.append(
                {
                    "env": env,
                    "k": k,
                    "tasks": at.tasks,
                    "covered": at.covered,
                    **_named(at, "pass_at_k"),
                    **_named(hat, "pass_hat_k"),
                }
            )
    return rows


def _pass(counts: Sequence[tuple[int, int]], k: int, partial: bool, mean: Callable[..., PassK], seed: int) -> PassK:
    """A task without a valid attempt counts as one that has not k of them."""
    played = [(c, n) for c, n in counts if n]
    found = mean(played, k, partial=partial, seed=seed)
    whole = len(played) == len(counts) or partial
    return replace(
        found,
        tasks=len(counts),
        value=found.value if whole else None,
        interval=found.interval if whole else None,
    )


def _named(found: PassK, name: str) -> dict[str, Any]:
    return {name: found.value, **_bounds(found.interval, f"{name}_")}


def _bounds(interval: Interval | None, prefix: str) -> dict[str, float | None]:
    return {f"{prefix}low": interval.low if interval else None, f"{prefix}high": interval.high if interval else None}


def print_suite(facts: dict[str, Any]) -> None:
    """What a suite can tell apart, for people."""
    typer.echo(f"{facts['suite']} ({facts['suite_hash'][:8]}): {facts['title']}")
    whole = {"env": "all", "tasks": facts["tasks"], **{k: facts[k] for k in ("half_width", "detectable")}}
    print_table(
        [
            {
                "env": row["env"],
                "tasks": str(row["tasks"]),
                "half-width": number(row["half_width"], 3),
                "detectable": number(row["detectable"], 3),
            }
            for row in [whole, *facts["envs"]]
        ]
    )
    if facts["half_width"] is None:
        typer.echo("how scores spread is not known before two runs: agentenv eval compare A B plans from theirs")
        return
    typer.echo("half-width: of the 95 % interval of a rate of one half, at one attempt a task")
    typer.echo(
        f"detectable: the difference of two agents that is likely to show (power {facts['power']:g}), if one of them "
        f"alone solves {facts['assumed_discordance']:.0%} of the tasks; an estimate for planning"
    )
    if facts["cannot_rank"]:
        typer.echo(f"{facts['suite']} cannot rank agents: that takes a detectable difference of {RANKING:g} or less")
    typer.echo(f"Next: agentenv eval run {facts['suite']} --agent random")


def print_about(facts: dict[str, Any]) -> None:
    """The same for people."""
    typer.echo(f"{facts['run']}: {facts['agent']} on {facts['suite']} ({facts['suite_hash'][:8]})")
    typer.echo(f"begun {facts['created_at'][:19]}, {facts['valid']} valid and {facts['invalid']} invalid")
    typer.echo(f"of {facts['planned']} planned episodes; agent {facts['agent_hash'][:8]}: {facts['description']}")
    if facts["prompt_tokens"] or facts["completion_tokens"]:
        cost = "unknown" if facts["cost"] is None else f"{facts['cost']:.4f}"
        typer.echo(f"{facts['prompt_tokens']} prompt and {facts['completion_tokens']} completion tokens; cost {cost}")
    for entry in facts["journal"]:
        typer.echo(f"{entry['at'][:19]}: {entry['what']}: {entry['reason']}")
    if facts["finished_at"] is None and facts["deleted_at"] is None:
        typer.echo(f"not finished ({facts['stopped'] or 'running, or killed'}): agentenv eval resume {facts['run']}")
    if facts["verified"] is not None:
        typer.echo(verified_text(facts["verified"]))
    print_table([_line(row) for row in facts["rows"]])
    print_table(known_columns([_taken(row) for row in facts["rows"]]))
    print_table([{"env": o["env"], "outcome": o["outcome"], "episodes": str(o["count"])} for o in facts["outcomes"]])
    print_table([_category(c) for c in facts["categories"] if c["category"]])
    print_table([_passes(row) for row in facts["pass_at_k"]])
    if any(row["pass_at_k"] is None for row in facts["pass_at_k"]):
        typer.echo("pass@k is known only when every task has k valid attempts; --partial shows those that have")
    if facts["repeats"]["dependent"]:
        why = "temperature 0" if facts["repeats"]["greedy"] else "all did the same in every task that was looked at"
        typer.echo(f"attempts are not independent: {why}")
    for found in facts["format_problems"]:
        typer.echo(format_problem(found["env"], found["share"], (found["text"], found["reason"])))
    for line in breaking(facts["breaks_the_environment"]):
        typer.echo(line)
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
    }


def _taken(row: dict[str, Any]) -> dict[str, Any]:
    """What an attempt took, and behind each the same of the successes alone."""
    return {
        "env": row["env"],
        "no action": percent(row["malformed"]),
        "steps": number(row["mean_steps"], 1),
        "of successes": number(row["success_steps"], 1),
        "seconds": number(row["mean_seconds"], 1),
        "their s": number(row["success_seconds"], 1),
        "tokens": number(row["mean_tokens"], 0),
        "their tokens": number(row["success_tokens"], 0),
        "cost": number(row["mean_cost"], 4),
        "per success": number(row["cost_per_success"], 4),
    }


def verified_text(verdict: dict[str, Any]) -> str:
    """The mark with who found it, when and where."""
    words = [verdict.get("at", "")[:10], verdict.get("platform", ""), f"agentenv {verdict.get('verifier', '?')}"]
    sample = f" of a sample of {verdict['sample']}" if verdict.get("sample") else ""
    return f"{verdict['mark']}{sample} ({', '.join(filter(None, words))}, by {verdict.get('by', 'self')})"


def _category(row: dict[str, Any]) -> dict[str, Any]:
    return {
        "env": row["env"],
        "category": row["category"],
        "tasks": str(row["tasks"]),
        "k/n": f"{row['success']}/{row['n']}",
        "rate": number(row["rate"], 3),
        "95% CI": span(row["ci_low"], row["ci_high"]),
    }


def _passes(row: dict[str, Any]) -> dict[str, Any]:
    return {
        "env": row["env"],
        "k": str(row["k"]),
        "pass@k": number(row["pass_at_k"], 3),
        "95% CI": span(row["pass_at_k_low"], row["pass_at_k_high"]),
        "pass^k": number(row["pass_hat_k"], 3),
        "its CI": span(row["pass_hat_k_low"], row["pass_hat_k_high"]),
        "have k": f"{row['covered']} of {row['tasks']} tasks",
    }
