"""`agentenv play`: an environment in the terminal, with a person as the agent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from agentenv.client import EnvClient


def play(
    env: Annotated[str, typer.Argument(help="Id of the env, or gym:ID.")],
    task: Annotated[
        str | None, typer.Option(help="Id of a task, such as textcraft/test/0; else one at random.")
    ] = None,
    split: Annotated[str, typer.Option(help="Split to draw the task from.")] = "train",
    max_steps: Annotated[int | None, typer.Option(min=1, help="End the episode after so many steps.")] = None,
    server: Annotated[str | None, typer.Option(help="URL of a server; else the env runs in this process.")] = None,
    env_option: Annotated[list[str] | None, typer.Option(help="key=value; repeatable.")] = None,
) -> None:
    """Play one episode yourself. ? lists the actions, the end of input (Ctrl-D) leaves.

    \b
    Examples:
      agentenv play textcraft
      agentenv play maze --split test --env-option size=4
      echo inventory | agentenv play textcraft --task textcraft/test/0
    """
    import agentenv
    from agentenv.cli.serve import read_token
    from agentenv.cli.target import place

    name, options = place(env, env_option or [], remote=server is not None)
    client = agentenv.make(
        name, base_url=server, split=split, task=task, max_steps=max_steps, token=read_token(None), **options
    )
    try:
        observation, info = client.reset()
        typer.echo(f"Task {info['task']}. Type an action; ? lists them, Ctrl-D leaves.\n\n{observation}")
        _episode(client)
    finally:
        client.close()


def _episode(client: EnvClient) -> None:
    """Read actions until the episode or the input ends."""
    steps, total = 0, 0.0
    while True:
        try:
            line = input("> ").strip()
        except EOFError:
            typer.echo(f"\nLeft after {steps} steps.")
            return
        if line == "?":
            actions = client.available_actions()
            typer.echo(
                "\n".join(actions)
                if actions is not None
                else "They have no bound; `agentenv envs ENV` says their form."
            )
            continue
        if not line:  # a slip of the finger should not cost a step
            continue
        observation, reward, terminated, truncated, info = client.step(line)
        steps, total = steps + 1, total + float(reward)
        typer.echo(observation)
        if terminated or truncated:
            typer.echo(f"\nThe episode ended: {info['outcome']} after {steps} steps, return {total:g}.")
            return
