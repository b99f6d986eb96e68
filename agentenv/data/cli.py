"""`agentenv data ...`: one command a line; each module imports what is heavy inside its function."""

from __future__ import annotations

import typer

from agentenv.data.agentgym.command import agentgym
from agentenv.data.convert import convert
from agentenv.data.export.command import export

app = typer.Typer(
    no_args_is_help=True, add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False,
    help="Tasks and episodes as files, and files of other projects.",
)  # fmt: skip


imports = typer.Typer(no_args_is_help=True, help="Read the data of another project.")


@imports.callback()
def _group() -> None:
    """Keep the group, also with a single command in it."""


app.command()(convert)
app.command()(export)
imports.command()(agentgym)
app.add_typer(imports, name="import")
