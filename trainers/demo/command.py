"""`agentenv train-demo`: what `make train-demo` runs."""

from __future__ import annotations

import json as jsonlib
from pathlib import Path
from typing import Annotated

import typer


def train_demo(
    algo: Annotated[str, typer.Option(help="grpo, or gae with a critic.")] = "grpo",
    seed: Annotated[int, typer.Option(min=0, help="Of the model, the data order and the sampling.")] = 0,
    quick: Annotated[
        bool, typer.Option("--quick", help="A few steps in three minutes; the gain is not judged.")
    ] = False,
    dir: Annotated[Path, typer.Option(metavar="DIR", help="Where everything is written.")] = Path("runs/train-demo"),
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """A small model learns mazes on two CPU cores. Exit code 1 when the gain on held-out mazes is not significant.

    \b
    Examples:
      agentenv train-demo
      agentenv train-demo --algo gae --seed 1 --dir runs/gae-1
    """
    from agentenv.cli.server_process import serving
    from agentenv.errors import BadCall
    from trainers.demo.run import DemoSettings, run

    if algo not in ("grpo", "gae"):
        raise BadCall(f"--algo {algo}: choose grpo or gae")
    folder = dir / f"{algo}-{seed}"
    if (folder / "result.json").exists():
        raise BadCall(f"{folder} holds a finished demo; choose another --dir, or remove it")
    with serving(["maze"]) as server:
        result = run(DemoSettings(folder=folder, algo=algo, seed=seed, quick=quick), server)
    found = result.to_json()
    if json:
        typer.echo(jsonlib.dumps(found))
    else:
        typer.echo(
            f"\nsuccess on {found['tasks']} held-out mazes: {result.before:.3f} "
            f"[{result.before_interval.low:.3f}, {result.before_interval.high:.3f}] before, {result.after:.3f} "
            f"[{result.after_interval.low:.3f}, {result.after_interval.high:.3f}] after {result.steps} steps\n"
            f"gain {result.paired.difference:+.3f} [{result.paired.interval.low:+.3f}, "
            f"{result.paired.interval.high:+.3f}], exact paired p = {result.paired.p_value:.2g}\n"
            f"seconds: {found['seconds']}\nplots: {folder / algo / 'plots.png'}"
        )
    if not quick and not (result.paired.p_value < 0.05 and result.paired.difference > 0):
        raise typer.Exit(1)
