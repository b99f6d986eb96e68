"""`agentenv data ...`: one command a line; each module imports what is heavy inside its function."""

from __future__ import annotations

import typer

from agentenv.data.convert import convert

app = typer.Typer(
    no_args_is_help=True, add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False,
    help="Tasks as files for trainers.",
)  # fmt: skip


@app.callback()
def _group() -> None:
    """Keep the group, also with a single command in it."""


app.command()(convert)
