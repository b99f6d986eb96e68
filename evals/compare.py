"""`agentenv eval compare`: two runs on the same tasks, for programs and for people."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import typer

from agentenv.errors import BadCall
from agentenv.intervals import seed_of
from evals.leaderboard import same_row
from evals.report import number, print_table, span
from evals.statistics.claims import differences, metric_of
from evals.statistics.pairs import compare_results, results_of

if TYPE_CHECKING:
    from evals.store.schema import RunRow, TaskRow
    from evals.store.store import Store

ALPHA = 0.05

SHOWN = 20
"""Flips and dropped tasks that are printed; the JSON has all."""


class NotComparable(BadCall):
    """The runs measured different things; the message names each."""

    code, status = "not_comparable", 409


def comparison(
    store: Store, a: RunRow, b: RunRow, *, delta: float, anyway: bool = False, pooled: bool = False
) -> dict[str, Any]:
    """Everything that the comparison of two runs tells, as JSON values; `pooled` takes all runs of each one's row.

    Raises NotComparable where suite, tasks, engine, versions or metric differ, unless `anyway`: then it is about the
    tasks that are equal in both.
    """
    found = differences(a, b)
    ours, theirs = (results_of(_tasks(store, run, pooled=pooled)) for run in (a, b))
    only_a, only_b = ([k for k in one if k not in other] for one, other in ((ours, theirs), (theirs, ours)))
    if (only_a or only_b) and not found:
        found = [f"tasks: {len(only_a)} only in A, {len(only_b)} only in B"]
    if found and not anyway:
        raise NotComparable(
            f"{a.id} and {b.id} measured different things: {'; '.join(found)}. "
            "--anyway compares them on the tasks that are equal in both"
        )
    result = compare_results(ours, theirs, seed=seed_of(a.id, b.id), metric=metric_of(a), delta=delta)
    return {
        "run_a": a.id,
        "run_b": b.id,
        "agent_a": a.agent,
        "agent_b": b.agent,
        "suite": a.suite,
        "pooled": pooled,
        "differences": found,
        "only_a": len(only_a),
        "only_b": len(only_b),
        **asdict(result),
    }


def _tasks(store: Store, run: RunRow, *, pooled: bool) -> list[TaskRow]:
    if not pooled:
        return [task for _, task in store.tasks(run=run.id)]
    return [task for other, task in store.tasks(suite=run.suite) if same_row(run, other)]


def print_comparison(facts: dict[str, Any]) -> None:
    """The same for people."""
    typer.echo(f"A {facts['run_a']}: {facts['agent_a']}")
    typer.echo(f"B {facts['run_b']}: {facts['agent_b']}")
    for difference in facts["differences"]:
        typer.echo(f"not the same: {difference}")
    if facts["only_a"] or facts["only_b"]:
        typer.echo(f"left out: {facts['only_a']} tasks that only A has, {facts['only_b']} that only B has")
    if facts["p_value"] is None:
        typer.echo("No task has a valid attempt on both sides, so there is nothing to compare.")
    else:
        _print_difference(facts)
    if facts["flips"]:
        typer.echo(f"\n{len(facts['flips'])} tasks differ{_first(facts['flips'])}:")
        print_table([{"task": f["task"], "A": f["a"], "B": f["b"]} for f in facts["flips"][:SHOWN]])
    if facts["dropped"]:
        typer.echo(f"{len(facts['dropped'])} tasks are not in the pair{_first(facts['dropped'])}:")
        print_table([{"task": d["task"], "why": d["why"]} for d in facts["dropped"][:SHOWN]])


def _print_difference(facts: dict[str, Any]) -> None:
    print_table(
        [
            {
                "tasks": str(facts["tasks"]),
                "A": number(facts["a"], 3),
                "B": number(facts["b"], 3),
                "A - B": number(facts["difference"], 3),
                "95% CI": span(facts["ci_low"], facts["ci_high"]),
                "method": facts["ci_method"] or "",
                "p": number(facts["p_value"], 4),
                "test": facts["test"],
                "worst cases": span(facts["difference_low"], facts["difference_high"]),
            }
        ]
    )
    typer.echo(verdict(facts["p_value"], facts["difference"]))
    if facts["detectable"] is not None:
        typer.echo(f"These tasks are likely to show a difference of {facts['detectable']:.3f} or more (power 0.8).")
    for need in facts["needs"]:
        if need["tasks"] is not None:
            typer.echo(f"To see {need['delta']:.3f}: {need['text']}. An estimate for planning.")


def verdict(p_value: float, difference: float) -> str:
    """One sentence, decided by p alone."""
    if p_value > ALPHA:
        return f"These tasks do not tell the two apart (p = {p_value:.3g})."
    return f"{'A' if difference > 0 else 'B'} is better on tasks of this kind (p = {p_value:.3g})."


def _first(items: list[Any]) -> str:
    return f", the first {SHOWN}" if len(items) > SHOWN else ""
