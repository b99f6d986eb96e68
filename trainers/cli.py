"""`agentenv train`: settings from YAML and the command line, then the loop."""

from __future__ import annotations

import json as jsonlib
from pathlib import Path
from typing import Annotated

import typer


def train(
    config: Annotated[
        Path | None, typer.Argument(metavar="[CONFIG.yaml]", help="Settings; see docs/training.md.")
    ] = None,
    overrides: Annotated[
        list[str] | None, typer.Argument(metavar="[key=value]...", help="Settings over those.")
    ] = None,
    backend: Annotated[str, typer.Option(metavar="NAME", help="Entry point in the group agentenv.trainers.")] = "fsdp",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the resolved settings, tokens per step and a memory estimate.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the end of the run as JSON.")] = False,
) -> None:
    """Train a model by multi-turn reinforcement learning. Exit code 1 when a stop rule ended the run.

    \b
    Examples:
      agentenv train --backend fsdp grpo.yaml
      agentenv train grpo.yaml optim.lr=1e-6 batch.group_size=8 run.dir=runs/two
      agentenv train grpo.yaml --dry-run
      torchrun --nproc-per-node=2 -m agentenv.cli.main train grpo.yaml
    """
    from trainers.config import TrainConfig
    from trainers.foreign import ours
    from trainers.launch.local import relaunch, take_ranks, under_torchrun
    from trainers.settings import load

    file, pairs = file_and_pairs(config, overrides)
    settings = load(TrainConfig, file, pairs, foreign=ours)
    if under_torchrun():
        take_ranks(settings)
    if dry_run:
        from trainers.dry_run import report

        typer.echo(report(settings))
        return
    several = settings.launch.nodes * settings.launch.processes_per_node > 1 and not settings.evaluation.only
    if several and not under_torchrun():
        from trainers.algorithms.checks import check_together

        check_together(settings)
        raise typer.Exit(relaunch(settings))
    from trainers.loop import train as run

    summary = run(settings, backend=backend)
    if summary is None:
        return
    if json:
        typer.echo(jsonlib.dumps({"step": summary.step, "updates": summary.updates, "reason": summary.reason,
                                  "metrics": summary.metrics}))  # fmt: skip
    else:
        for name, value in sorted(summary.metrics.items()):
            if name.startswith("validation/"):
                typer.echo(f"{name} {value:.4g}")
        typer.echo(f"{summary.reason} at step {summary.step}, {summary.updates} optimizer steps; {settings.run.dir}")
    if summary.reason not in ("complete", "already complete"):
        raise typer.Exit(1)


def file_and_pairs(config: Path | None, overrides: list[str] | None) -> tuple[Path | None, list[str]]:
    """The file of settings and the `key=value` words; the file may be left out."""
    pairs = list(overrides or [])
    if config is not None and "=" in str(config) and not config.exists():
        return None, [str(config), *pairs]
    return config, pairs
