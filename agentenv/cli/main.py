"""The command `agentenv`. Commands are modules that load only when they are used, so that `--help` stays quick.

The commands of other packages, and of this project's other parts, come from entry points of the group
`agentenv.commands`: a `typer.Typer` becomes a group of commands, a function becomes one. A broken one is listed with
its reason and fails only when it is called.

Exit codes: 0 done, 1 the world failed, 2 the call was wrong.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperCommand, TyperGroup

from agentenv import __version__
from agentenv.errors import AgentEnvError, BadCall, EnvUnavailable

OWN = {
    "envs": "agentenv.cli.envs:envs",
    "serve": "agentenv.cli.serve:serve",
    "play": "agentenv.cli.play:play",
    "rollout": "agentenv.cli.rollout:rollout",
    "check": "agentenv.cli.check:check",
    "bench": "agentenv.cli.bench:bench",
    "demo": "agentenv.cli.demo:demo",
    "data": "agentenv.data.cli:app",
    "doctor": "agentenv.cli.doctor:doctor",
    "new": "agentenv.cli.new:app",
}
"""Command -> `module:function` or `module:Typer`. These modules import nothing heavy at their top."""

GROUP = "agentenv.commands"


class Commands(TyperGroup):
    """Own commands, then those of entry points; each loads when it is asked for."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Names, own ones first."""
        from agentenv.plugins import entry_points

        return [*OWN, *sorted(set(entry_points(GROUP)) - set(OWN))]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of that name for a listing: a stranger's module stays unimported, it may be slow."""
        return _command(cmd_name, listing=True)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command to run, or a usage error with the nearest name."""
        names = self.list_commands(ctx)
        if args[0] in names:
            return args[0], _command(args[0], listing=False), args[1:]
        if args[0].startswith("-"):
            return super().resolve_command(ctx, args)
        close = get_close_matches(args[0], names, n=1)
        ctx.fail(f"No such command {args[0]!r}." + (f" Did you mean {close[0]!r}?" if close else ""))


def _command(name: str, *, listing: bool) -> Any:
    if name in OWN:
        module, _, attribute = OWN[name].partition(":")
        return _as_command(name, getattr(importlib.import_module(module), attribute))
    return _plugin_command(name, listing=listing)


def _as_command(name: str, target: Any) -> Any:
    """A typer.Typer as a group, a function as a command."""
    if isinstance(target, typer.Typer):
        group = typer.main.get_group(target)
        group.name = name
        return group
    app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    app.command(name)(target)
    return typer.main.get_command(app)


def _plugin_command(name: str, *, listing: bool) -> Any:
    from agentenv.plugins import DISTRIBUTION, entry_points, load_point

    found = entry_points(GROUP).get(name)
    if found is None:
        return None
    point, dist = found
    if listing and dist.name != DISTRIBUTION:
        return TyperCommand(name, help=f"From the package {dist.name}.", rich_markup_mode=None)
    try:
        return _as_command(name, load_point(point, dist))
    except Exception as exc:  # a plug-in may raise anything at import
        reason = f"{type(exc).__name__}: {exc}"
        message = f"the command {name!r} of {dist.name} is unavailable: {reason}"
        return TyperCommand(
            name,
            help=f"unavailable: {reason}",
            callback=_raising(message, exc),
            context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
            add_help_option=False,
            rich_markup_mode=None,
        )


def _raising(message: str, cause: Exception) -> Callable[[], NoReturn]:
    def fail() -> NoReturn:
        raise EnvUnavailable(message) from cause

    return fail


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"agentenv {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Environments for LLM agents: serve them, step them, evaluate agents on them.

    \b
    Examples:
      agentenv envs                                  what there is to play
      agentenv play textcraft                        play it yourself
      agentenv serve textcraft wordle                serve two environments over HTTP
      agentenv rollout textcraft --agent oracle --limit 5
    """


def main(args: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and exit; an AgentEnvError is one line on stderr, its trace with AGENTENV_DEBUG=1."""
    try:
        app(args, prog_name="agentenv")
    except AgentEnvError as exc:
        if os.environ.get("AGENTENV_DEBUG") == "1":
            raise
        typer.echo(f"agentenv: {exc.message}", err=True)
        sys.exit(2 if isinstance(exc, BadCall) else 1)
    sys.exit(0)


if __name__ == "__main__":
    main()
