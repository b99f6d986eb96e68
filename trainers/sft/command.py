"""`agentenv sft`."""

from __future__ import annotations

import json as jsonlib
from pathlib import Path
from typing import Annotated

import typer


def sft(
    config: Annotated[Path | None, typer.Argument(metavar="[CONFIG.yaml]", help="Settings as YAML.")] = None,
    overrides: Annotated[list[str] | None, typer.Argument(metavar="[key=value]...", help="Over those.")] = None,
    backend: Annotated[str, typer.Option(metavar="NAME", help="Entry point in the group agentenv.trainers.")] = "fsdp",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the resolved settings.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the end of the run as JSON.")] = False,
) -> None:
    """Warm start: imitate a scripted solution or recorded episodes, then write a Hugging Face folder.

    \b
    Examples:
      agentenv sft model.path=DIR data.env=maze data.noise=0.2 run.steps=100
      agentenv sft sft.yaml data.files=[demonstrations.jsonl] out=DIR
    """
    from trainers.cli import file_and_pairs
    from trainers.foreign import ours
    from trainers.launch.local import relaunch, take_ranks, under_torchrun
    from trainers.settings import load, plain
    from trainers.sft.config import SftConfig
    from trainers.sft.loop import check_together
    from trainers.sft.loop import sft as run

    file, pairs = file_and_pairs(config, overrides)
    settings = load(SftConfig, file, pairs, foreign=ours)
    if under_torchrun():
        take_ranks(settings)
    if dry_run:
        import yaml

        check_together(settings)
        typer.echo(yaml.safe_dump(plain(settings), sort_keys=False).rstrip())
        return
    if settings.launch.nodes * settings.launch.processes_per_node > 1 and not under_torchrun():
        check_together(settings)
        raise typer.Exit(relaunch(settings))

    summary = run(settings, backend=backend)
    if summary is None:
        return
    if json:
        end = {"step": summary.step, "reason": summary.reason, "metrics": summary.metrics}
        typer.echo(jsonlib.dumps(end))
    else:
        out = settings.out or Path(settings.run.dir) / "model"
        typer.echo(f"{summary.reason} at step {summary.step}; the model is in {out}")
