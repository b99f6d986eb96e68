"""`agentenv audit-tokens`: which tokens of recorded episodes would be trained."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def audit_tokens(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Episodes in JSON lines, played by an engine.")],
    tokenizer: Annotated[Path, typer.Option(metavar="DIR", help="Hugging Face folder of the model.")],
    history: Annotated[
        str | None, typer.Option(metavar="NAME", help="append or template; by default as the records say.")
    ] = None,
    date: Annotated[
        str | None, typer.Option(metavar="YYYY-MM-DD", help="For templates that print one; as the records say.")
    ] = None,
    show: Annotated[int, typer.Option(min=0, metavar="N", help="Episodes to print; all are checked.")] = 3,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show which tokens would be trained, turn by turn, and check them.

    Exit code 1 when there is an error.
    """
    from json import dumps

    from agentenv.errors import BadCall
    from agentenv.render import DATE, load_renderer
    from agentenv.trajectory import read_jsonl
    from trainers.audit.records import audit_records

    if not file.is_file():
        raise BadCall(f"no file {file}")
    trajectories = list(read_jsonl(file))
    if not trajectories:
        raise BadCall(f"{file} holds no episode")
    recorded = trajectories[0].agent.get("renderer")
    recorded = recorded if isinstance(recorded, dict) else {}
    renderer = load_renderer(
        tokenizer,
        history=history or recorded.get("history", "append"),
        date=date or recorded.get("date", DATE),
        options=recorded.get("options"),
    )
    report = audit_records(trajectories, renderer)
    if json:
        typer.echo(dumps({"file": str(file), "renderer": renderer.describe(), **report.to_json()}))
    else:
        from rich.console import Console

        from trainers.audit.show import LEGEND, shown_episode

        console = Console(highlight=False)
        if show:
            console.print(LEGEND)
        for number, trajectory in enumerate(trajectories[:show]):
            for text in shown_episode(trajectory, renderer, number=number):
                console.print(text)
        for finding in report.findings:
            console.print(str(finding), style="bold red" if finding.level == "error" else "yellow", markup=False)
        console.print("  ".join(f"{name} {count}" for name, count in report.counts.items()))
        console.print(f"{len(report.errors)} errors", style="bold red" if report.errors else "bold green")
    if not report.ok:
        raise typer.Exit(1)
