"""`agentenv new env NAME`: a small working env package to change into one's own."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Annotated

import typer

from agentenv.errors import BadCall

app = typer.Typer(help="Start something of your own from a template.", no_args_is_help=True, rich_markup_mode=None)

FILES = {
    "pyproject.toml": "pyproject.toml",
    "README.md": "README.md",
    "__init__.py": "{name}_env/__init__.py",
    "specs.py": "{name}_env/specs.py",
    "tasks.py": "{name}_env/tasks.py",
    "env.py": "{name}_env/env.py",
    "test_env.py": "tests/test_{name}.py",
}
"""Template -> its place in the new package."""


@app.callback()
def _new() -> None:
    """Start something of your own from a template."""


@app.command()
def env(
    name: Annotated[str, typer.Argument(help="The env's id: lower-case letters, digits and underscores.")],
    folder: Annotated[
        Path | None, typer.Option("--folder", help="Where to put it; the default is agentenv-NAME here.")
    ] = None,
) -> None:
    """Write a package with a working environment, its tasks and its tests.

    \b
    Example:
      agentenv new env numbers
    """
    target = folder or Path(f"agentenv-{name}")
    for path in write_env(name, target):
        typer.echo(path)
    shown = target if target.is_absolute() else f"./{target}"  # a bare name would be looked up in an index
    typer.echo(f"Next: pip install -e {shown} && agentenv play {name}")


def write_env(name: str, target: Path) -> list[Path]:
    """Fill the template into `target`; nothing that exists is overwritten."""
    from agentenv.registry import ID_PATTERN, EnvSpec, all_specs

    if not ID_PATTERN.fullmatch(name):
        raise BadCall(f"environment id {name!r}: must match {ID_PATTERN.pattern}")
    if isinstance(all_specs().get(name), EnvSpec):
        raise BadCall(f"an environment {name!r} is already installed; take another name")
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise BadCall(f"{target} exists; take another name or --folder")
    title = "".join(part.capitalize() for part in name.split("_"))
    written = []
    for template, place in FILES.items():
        text = files("agentenv.cli").joinpath("new_env", f"{template}.tmpl").read_text(encoding="utf-8")
        path = target / place.format(name=name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(Template(text).substitute(name=name, title=title), encoding="utf-8")
        written.append(path)
    return written
