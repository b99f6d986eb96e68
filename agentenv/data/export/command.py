"""`agentenv data export`, and the options that it shares with exports of stored runs."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from agentenv.pictures import Pictures
    from agentenv.trajectory import Trajectory

Form = Annotated[str, typer.Option("--format", metavar="FORM", help="jsonl, sharegpt, openai, atif or parquet.")]
Out = Annotated[
    str, typer.Option(metavar="PATH|URL", help="File to write; for atif a folder, or a file that ends in .jsonl.")
]
MinReward = Annotated[float | None, typer.Option(metavar="X", help="Only episodes that earned at least this.")]
Success = Annotated[bool, typer.Option("--success", help="Only episodes that succeeded.")]
Envs = Annotated[list[str] | None, typer.Option("--env", metavar="ENV", help="Only of this environment; repeatable.")]
Style = Annotated[
    str | None,
    typer.Option("--as", metavar="FORMAT", help="Give scripts a model's opening, and write their actions as react ..."),
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite the file.")]
Json = Annotated[bool, typer.Option("--json", help="Print what was written as JSON.")]


def export(
    source: Annotated[Path, typer.Argument(metavar="FILE.jsonl", help="Episodes, as rollouts write them.")],
    form: Form,
    out: Out,
    min_reward: MinReward = None,
    success: Success = False,
    env: Envs = None,
    style: Style = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Write episodes in a form that others read, all or those that are good enough to be imitated.

    What is exported can be told to an evaluation: the digests of its tasks are in our own records, and beside every
    other form in a file that `agentenv eval run --trained-on` reads. Stored runs: `agentenv eval export`.

    \b
    Examples:
      agentenv data export oracle.jsonl --format openai --as react --out chats.jsonl
      agentenv data export episodes.jsonl --format jsonl --success --out good.jsonl
      agentenv data export episodes.jsonl --format sharegpt --min-reward 0.9 --env maze --out maze.jsonl
      agentenv data export episodes.jsonl --format atif --out trajectories/
      agentenv data export episodes.jsonl --format parquet --out s3://bucket/episodes.parquet
    """
    from agentenv.errors import BadCall
    from agentenv.pictures import Pictures, beside
    from agentenv.trajectory import read_jsonl

    if not source.is_file():
        raise BadCall(f"{source}: no such file of episodes")
    export_records(
        read_jsonl(source),
        form,
        out,
        min_reward=min_reward,
        success=success,
        env=env,
        style=style,
        force=force,
        json=json,
        pictures=Pictures(beside(source)),
    )


def export_records(
    records: Iterable[Trajectory],
    form: str,
    out: str,
    *,
    min_reward: float | None,
    success: bool,
    env: list[str] | None,
    style: str | None,
    force: bool,
    json: bool,
    pictures: Pictures,
) -> None:
    """Export as the options say, and print what came of it."""
    from agentenv.cli.tables import print_json
    from agentenv.data.export.exporting import Choice, export_to

    choice = Choice(success=success, min_reward=min_reward, envs=env or ())
    done = export_to(out, form, records, choice, style=style, force=force, pictures=pictures)
    left = dict(sorted(done.left_out.items()))
    if json:
        return print_json(
            {
                "out": out,
                "format": form,
                "episodes": done.episodes,
                "tasks": len(done.tasks),
                "left_out": left,
                "pictures": done.pictures,
                "trained_on": done.trained_on or out,
            }
        )
    typer.echo(f"{done.episodes} episodes of {len(done.tasks)} tasks in {out}")
    if done.pictures:
        typer.echo(f"{done.pictures} pictures in {out}.images")
    if missing := len(done.named) - done.pictures:
        typer.echo(
            f"without {missing} pictures; they go along with --format jsonl to a path, where their files are here"
        )
    for reason, count in left.items():
        typer.echo(f"left out: {count} {reason}")
    typer.echo(f"What a model learns from them: agentenv eval run ... --trained-on {done.trained_on or out}")
