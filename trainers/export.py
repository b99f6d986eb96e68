"""`agentenv export`: a Hugging Face folder from a checkpoint."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from agentenv.errors import BadCall


def export(
    checkpoint: Annotated[Path, typer.Argument(metavar="CHECKPOINT", help="Folder of one step, as training wrote it.")],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where to write; must not exist, or be empty.")],
    model: Annotated[
        Path | None, typer.Option(metavar="DIR", help="The model that training began with, if it has moved.")
    ] = None,
    dtype: Annotated[str, typer.Option(metavar="NAME", help="Of the weights: float32, bfloat16.")] = "float32",
) -> None:
    """Write the policy of a checkpoint as a Hugging Face folder, which transformers and vllm load."""
    if dtype not in ("float32", "bfloat16"):
        raise BadCall(f"--dtype {dtype}: choose float32 or bfloat16")
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise BadCall(f"{out} exists and is not an empty folder")
    from trainers.fsdp.export import export_checkpoint

    export_checkpoint(checkpoint, out, model=model, dtype=dtype)
    typer.echo(f"{checkpoint} -> {out}")
