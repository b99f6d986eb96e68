"""`agentenv play`: an environment in the terminal or in the browser, with a person as the agent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlencode

import typer

from agentenv.errors import BadCall

if TYPE_CHECKING:
    from agentenv.client import EnvClient

PAGES, PLAY_PATH = "eval", "/eval/play"
"""Who brings the page to play on, in the group `agentenv.web`, and where it is mounted."""


def play(
    env: Annotated[str, typer.Argument(help="Id of the env, or gym:ID.")],
    task: Annotated[
        str | None, typer.Option(help="Id of a task, such as textcraft/test/0; else one at random.")
    ] = None,
    split: Annotated[
        str | None, typer.Option(help="Split to draw the task from: train, unless the page of --web says otherwise.")
    ] = None,
    max_steps: Annotated[int | None, typer.Option(min=1, help="End the episode after so many steps.")] = None,
    server: Annotated[str | None, typer.Option(help="URL of a server; else the env runs in this process.")] = None,
    env_option: Annotated[list[str] | None, typer.Option(help="key=value; repeatable.")] = None,
    web: Annotated[
        bool, typer.Option("--web", help="In the browser; its episodes are stored. Ctrl-C ends it.")
    ] = False,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port of --web; 0 takes a free one.")] = 0,
) -> None:
    """Play one episode yourself. ? lists the actions, the end of input (Ctrl-D) leaves.

    \b
    Examples:
      agentenv play textcraft
      agentenv play maze --split test --env-option size=4
      echo inventory | agentenv play textcraft --task textcraft/test/0
      agentenv play textcraft --web
    """
    if web:
        if max_steps is not None:
            raise BadCall("--max-steps goes without --web, where people have as many steps as agents")
        asked = {name: value for name, value in {"env": env, "split": split, "task": task}.items() if value is not None}
        return _in_browser(env, env_option or [], asked, server=server, port=port)
    import agentenv
    from agentenv.cli.serve import read_token
    from agentenv.cli.target import place

    name, options = place(env, env_option or [], remote=server is not None)
    client = agentenv.make(
        name, base_url=server, split=split or "train", task=task, max_steps=max_steps, token=read_token(None), **options
    )
    try:
        observation, info = client.reset()
        typer.echo(f"Task {info['task']}. Type an action; ? lists them, Ctrl-D leaves.\n\n{observation}")
        _episode(client, env)
    finally:
        client.close()


def _in_browser(env: str, options: list[str], asked: dict[str, str], *, server: str | None, port: int) -> None:
    """Serve the env with the page to play on, and open it; on a server that is there already, open its own."""
    from agentenv.cli.target import target
    from agentenv.plugins import entry_points
    from agentenv.server.mounts import GROUP
    from agentenv.server.serve import ServeConfig, serve

    if server is not None:
        return _open(server.rstrip("/"), asked)
    if PAGES not in entry_points(GROUP):
        raise BadCall("the page to play on is not installed; play in the terminal, without --web")
    spec, chosen = target(env, options)
    config = ServeConfig(port=port, env_options={spec.id: chosen} if chosen else {})
    serve([spec], config, on_ready=lambda url: _open(url, {**asked, "env": spec.id}))


def _open(url: str, asked: dict[str, str]) -> None:
    """Print the address, and open it where there is a browser with a window of its own."""
    import webbrowser

    address = f"{url}{PLAY_PATH}?{urlencode(asked)}"
    typer.echo(f"Play at {address}")
    try:
        browser = webbrowser.get()
    except webbrowser.Error:
        return
    if type(browser) is not webbrowser.GenericBrowser:  # those take over the terminal
        browser.open(address)


def _episode(client: EnvClient, env: str) -> None:
    """Read actions until the episode or the input ends."""
    steps, total = 0, 0.0
    while True:
        try:
            line = input("> ").strip()
        except EOFError:
            typer.echo(f"\nLeft after {_counted(steps)}.")
            return
        if line == "?":
            actions = client.available_actions()
            typer.echo(
                "\n".join(actions)
                if actions is not None
                else f"They have no bound; `agentenv envs {env}` says their form."
            )
            continue
        if not line:  # a slip of the finger should not cost a step
            continue
        observation, reward, terminated, truncated, info = client.step(line)
        steps, total = steps + 1, total + float(reward)
        typer.echo(observation)
        if terminated or truncated:
            typer.echo(f"\nThe episode ended: {info['outcome']} after {_counted(steps)}, return {total:g}.")
            return


def _counted(steps: int) -> str:
    return "1 step" if steps == 1 else f"{steps} steps"
