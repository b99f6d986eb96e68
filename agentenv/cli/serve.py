"""`agentenv serve`: environments over HTTP."""

from __future__ import annotations

import json as jsonlib
import os
from pathlib import Path
from typing import Annotated

import typer

from agentenv.errors import BadCall


def serve(
    envs: Annotated[list[str], typer.Argument(metavar="ENV...", help="Ids, or gym:ID for a gymnasium env.")],
    host: Annotated[str, typer.Option(help="Address to listen on; any but loopback needs a token.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 takes a free one.")] = 8000,
    max_sessions: Annotated[int, typer.Option(min=1, help="Live sessions at one time; more are refused.")] = 1024,
    lease: Annotated[float, typer.Option(min=1, help="Seconds after which an unused session is closed.")] = 600.0,
    token_file: Annotated[
        Path | None, typer.Option(help="File with the token that clients must send; else AGENTENV_TOKEN.")
    ] = None,
    allow_host: Annotated[
        list[str] | None, typer.Option(help="A further Host header to accept, such as a DNS name; repeatable.")
    ] = None,
    oracle: Annotated[bool, typer.Option("--oracle", help="Let clients ask for the scripted solution.")] = False,
    env_option: Annotated[list[str] | None, typer.Option(help="ENV.key=value; repeatable.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one line of JSON when ready: url, pid, envs.")] = False,
) -> None:
    """Serve environments over HTTP until Ctrl-C.

    \b
    Examples:
      agentenv serve textcraft
      agentenv serve textcraft maze --env-option maze.size=7 --oracle
      agentenv serve gym:FrozenLake-v1 --port 0 --json
      AGENTENV_TOKEN=... agentenv serve wordle --host 0.0.0.0
    """
    from agentenv.cli.target import served
    from agentenv.plugins import entry_points
    from agentenv.server.mounts import GROUP
    from agentenv.server.serve import ServeConfig
    from agentenv.server.serve import serve as run_server

    specs, options = served(envs, env_option or [])
    config = ServeConfig(
        host=host,
        port=port,
        max_sessions=max_sessions,
        lease_s=lease,
        token=read_token(token_file),
        oracle=oracle,
        env_options=options,
        allow_hosts=tuple(allow_host or ()),
    )
    names = [spec.id for spec in specs]

    def ready(url: str) -> None:
        if json:
            typer.echo(jsonlib.dumps({"url": url, "pid": os.getpid(), "envs": names}))
            return
        typer.echo(f"Serving {', '.join(names)} at {url} (Ctrl-C stops it)")
        typer.echo(f"  curl {url}/v1/envs")
        typer.echo(f"  agentenv play {names[0]} --server {url}")
        for path in entry_points(GROUP):
            typer.echo(f"  {url}/{path} in the browser")

    run_server(specs, config, on_ready=ready)


def read_token(file: Path | None) -> str | None:
    """The token of a file, else of AGENTENV_TOKEN; None when there is neither. An empty one is refused."""
    if file is None:
        token = os.environ.get("AGENTENV_TOKEN")
        source = "AGENTENV_TOKEN"
    else:
        source = str(file)
        try:
            token = file.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as exc:
            raise BadCall(f"--token-file {file}: {exc}") from exc
    if token == "":
        raise BadCall(f"the token of {source} is empty")
    return token
