"""`agentenv data convert`: the tasks of a split as parquet rows for trainers."""

from __future__ import annotations

from typing import Annotated

import typer


def convert(
    env: Annotated[str, typer.Argument(help="Id of the env, or gym:ID.")],
    out: Annotated[str, typer.Option(metavar="PATH|URL", help="Parquet file to write; any URL that fsspec knows.")],
    split: Annotated[str, typer.Option(help="Split of the tasks.")] = "train",
    limit: Annotated[int | None, typer.Option(min=1, help="The first so many tasks; else all.")] = None,
    env_option: Annotated[list[str] | None, typer.Option(help="key=value; repeatable.")] = None,
    data_source: Annotated[
        str | None, typer.Option(metavar="NAME", help="What rows say of their origin; else the env's own.")
    ] = None,
    observation: Annotated[
        bool, typer.Option(help="End the prompt with the first observation, for which each task is begun.")
    ] = True,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print what was written as JSON.")] = False,
) -> None:
    """Write the tasks of a split as parquet rows: data_source, prompt, ability, reward_model, extra_info.

    The file appears as a whole or not at all. It holds the answers where an environment gives them.

    \b
    Examples:
      agentenv data convert math --split train --out train.parquet
      agentenv data convert math --split test --env-option gsm8k=gsm8k/main --out test.parquet
      agentenv data convert textcraft --split test --limit 100 --out textcraft.parquet --json
      agentenv data convert math --split train --out s3://bucket/math/train.parquet
      agentenv data convert webarena --split test --no-observation --out webarena.parquet
    """
    from agentenv.cli.progress import progress
    from agentenv.cli.tables import print_json
    from agentenv.cli.target import target
    from agentenv.data.parquet import write_rows
    from agentenv.data.rows import Wanted, rows_of
    from agentenv.data.targets import replaced

    spec, options = target(env, env_option or [])
    wanted = Wanted(
        spec=spec, options=options, split=split, limit=limit, data_source=data_source, observation=observation
    )
    with replaced(out, force=force) as path, progress(f"{spec.id} {split}", wanted.count()) as advance:
        count = write_rows(path, rows_of(wanted), on_row=advance)
        size = path.stat().st_size
    if json:
        return print_json({"env": spec.id, "split": split, "rows": count, "out": out, "bytes": size})
    typer.echo(f"{count} rows of {spec.id} {split} in {out}")
