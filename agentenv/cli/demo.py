"""`agentenv demo`: the whole path from a task to a leaderboard row, in one command."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

GAMES = ("textcraft", "wordle", "maze")
FAMILIES = ("alfworld", "webshop", "sql", "math", "todo")
SITES = "webarena"
AGENTS = ("oracle", "random", "noop")
TWO = ("oracle", "noop")
"""random needs a list of actions, which not every environment has."""


def demo(
    folder: Annotated[
        Path, typer.Option(help="Where the demo keeps its database; each run makes a folder of its own there.")
    ] = Path(".demo"),
) -> None:
    """Play three games with three agents, then five more families and websites with two, from server to leaderboard.

    The server runs in a process of its own; each agent plays 30 test tasks of each game over HTTP, and six of each
    other family. On the websites twelve tasks are played, in Chromium where there is one, else in the engine that needs
    no browser.

    \b
    Example:
      agentenv demo
    """
    from agentenv.cli.server_process import serving

    home = folder / time.strftime("%Y%m%d-%H%M%S")
    home.mkdir(parents=True, exist_ok=True)
    envs = (*GAMES, *FAMILIES, SITES)
    typer.echo(f"Starting a server with {', '.join(envs)} ...")
    with serving(envs, "--oracle") as url:
        typer.echo(f"It answers at {url}. Three agents play 30 test tasks of each game.")
        _run(home, "eval", "run", "demo", *_players(AGENTS), "--server", url)
        typer.echo(f"Two agents play six tasks each of {', '.join(FAMILIES)}.")
        _run(home, "eval", "run", "families", *_players(TWO), "--server", url)
        engine = _engine(url)
        typer.echo(f"Two agents play twelve tasks on websites, in the engine {engine}.")
        _run(home, "eval", "run", f"{SITES}-smoke-{engine}", *_players(TWO), "--server", url)
    typer.echo("\nThe server has stopped. The leaderboard:\n")
    _run(home, "leaderboard")
    typer.echo(_next(home))


def _engine(url: str) -> str:
    """The engine that the server has for websites."""
    import agentenv

    env = agentenv.make(SITES, base_url=url, size="small")
    try:
        return str(env.reset(seed=0)[1]["engine"])
    finally:
        env.close()


def _players(agents: Sequence[str]) -> list[str]:
    return [word for agent in agents for word in ("--agent", agent)]


def _run(home: Path, *words: str) -> None:
    """One command of ours with the demo's home; its failure is the demo's."""
    environment = {k: v for k, v in os.environ.items() if k != "AGENTENV_DB"} | {"AGENTENV_HOME": str(home)}
    done = subprocess.run([sys.executable, "-m", "agentenv.cli.main", *words], env=environment, check=False)
    if done.returncode != 0:
        raise typer.Exit(done.returncode)


def _next(home: Path) -> str:
    """What to type next; the command as this machine can call it."""
    command = "agentenv" if shutil.which("agentenv") else os.path.relpath(Path(sys.executable).parent / "agentenv")
    return f"""
What to type next:
  export AGENTENV_HOME={home.absolute()}
  {command} leaderboard --json                   the same figures for programs
  {command} eval list                            the runs that were just made
  {command} envs textcraft                       tasks, actions and options of a game
  {command} play textcraft                       play it yourself (? lists the actions, Ctrl-D leaves)
  make webarena-open                             the websites in your own browser
  {command} serve textcraft wordle maze          serve the games; then, in another terminal:
  {Path(command).with_name("python")} examples/loop.py --base-url http://127.0.0.1:8000
"""
