"""One sitting at the terminal: runs are played under a progress bar, and what came of them is printed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import typer

from agentenv.errors import AgentEnvError

if TYPE_CHECKING:
    from agentenv.pictures import Undrawn
    from agentenv.trajectory import Trajectory
    from evals.leaderboard import Row
    from evals.limits import Limits
    from evals.store.schema import RunRow
    from evals.store.store import OpenSlot, Store

INTERRUPTED = 130
"""Exit code after Ctrl-C."""


def sit(
    store: Store, runs: Sequence[str], *, servers: Sequence[str], concurrency: int, limits: Limits, json: bool
) -> None:
    """Play the open slots of the runs and print what came of them; say how to go on when something stops it."""
    import asyncio

    from evals.harness import play_runs
    from evals.progress import progress

    undrawn = _undrawn(store, runs)
    planned = [store.progress(run) for run in runs]
    total, done = sum(p.planned for p in planned), sum(p.done for p in planned)
    try:
        with progress(total=total, done=done, quiet=json) as shown:

            def on_episode(slot: OpenSlot, episode: Trajectory) -> None:
                if undrawn is not None:
                    undrawn.ended(episode)
                if shown is not None:
                    shown(slot, episode)

            sitting = play_runs(
                store, runs, servers=servers, concurrency=concurrency, limits=limits, on_episode=on_episode
            )
            limit = asyncio.run(sitting)
    except KeyboardInterrupt:
        typer.echo(f"Stopped. {_how_to_resume(store, runs)}", err=True)
        raise typer.Exit(INTERRUPTED) from None
    except AgentEnvError as exc:
        hint = _how_to_resume(store, runs)
        raise type(exc)(f"{exc.message.rstrip('.')}. {hint}", **exc.extra) from exc
    if limit is not None:
        typer.echo(f"Stopped: {limit}. {_how_to_resume(store, runs)}", err=True)
    _print_results(store, runs, json=json)


def _undrawn(store: Store, runs: Sequence[str]) -> Undrawn | None:
    """Who says which envs do not draw, where pictures are kept; the runs of a sitting agree in that."""
    from agentenv.pictures import Undrawn
    from agentenv.registry import get_spec
    from evals.harness import keeps_pictures

    rows = [row for row in map(store.run, runs) if keeps_pictures(row)]
    if not rows:
        return None
    undrawn = Undrawn(lambda text: typer.echo(text, err=True))
    for world in (world for row in rows for world in row.worlds):
        undrawn.opened(world["env"], draws=get_spec(world["env"]).images)
    return undrawn


def _how_to_resume(store: Store, runs: Sequence[str]) -> str:
    progress = [store.progress(run) for run in runs]
    done, planned = sum(p.done for p in progress), sum(p.planned for p in progress)
    command = "agentenv eval resume" + (f" {runs[0]}" if len(runs) == 1 else "")
    return f"{done} of {planned} episodes are stored; `{command}` plays the rest (--server URL if it moved)"


def _print_results(store: Store, runs: Sequence[str], *, json: bool) -> None:
    from agentenv.cli.tables import print_json
    from evals.boards import with_breaks
    from evals.leaderboard import pooled_rows
    from evals.report import print_results, warnings
    from evals.show import unread_of

    stored = [store.run(run) for run in runs]
    rows: list[Row] = [r for run in stored for r in with_breaks(store, pooled_rows(store.tasks(run=run.id)), [run])]
    if json:
        return print_json({"runs": [listed(store, run) for run in stored], "rows": [row.to_json() for row in rows]})
    print_results(row for row in rows if row.env == "all")
    for warning in warnings(rows, unread_of(store, rows)):
        typer.echo(warning)
    typer.echo(f"Stored in {store.name}{_pictures_told(store, stored)}. Next: agentenv leaderboard")


def _pictures_told(store: Store, runs: Sequence[RunRow]) -> str:
    from evals.harness import keeps_pictures
    from evals.store.pictures import pictures_in

    folder = pictures_in(store).folder
    return f", pictures in {folder}" if folder.exists() and any(map(keeps_pictures, runs)) else ""


def listed(store: Store, row: RunRow) -> dict[str, Any]:
    """A run in a listing."""
    progress = store.progress(row.id)
    state = "complete" if row.finished_at else f"open, {progress.done}/{progress.planned}"
    state = "deleted" if row.deleted_at else state
    return {
        "run": row.id,
        "suite": row.suite,
        "suite_hash": row.suite_hash,
        "agent": row.agent,
        "agent_hash": row.agent_hash,
        "created_at": row.created_at,
        "finished_at": row.finished_at,
        "planned": progress.planned,
        "valid": progress.valid,
        "invalid": progress.lost,
        "stopped": row.stopped,
        "reopened": row.reopened,
        "deleted_at": row.deleted_at,
        "tokens": row.prompt_tokens + row.completion_tokens,
        "cost": row.cost if row.priced else None,
        "state": state,
    }
