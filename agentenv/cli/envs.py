"""`agentenv envs`: what there is to play, or the card of one environment."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from agentenv.registry import EnvSpec

COLUMNS = ("env", "title", "version", "tasks", "concurrency", "needs")


def envs(
    env: Annotated[str | None, typer.Argument(help="Show this one in full.")] = None,
    env_option: Annotated[list[str] | None, typer.Option(help="An option of ENV, key=value; repeatable.")] = None,
    list_: Annotated[
        str | None, typer.Option("--list", help="Print a list of the card's that is not played here.")
    ] = None,
    file: Annotated[
        Path | None, typer.Option(help="With --list: a file of yours in place of what is installed.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the environments, or show the card of one.

    \b
    Examples:
      agentenv envs
      agentenv envs maze --env-option size=7
      agentenv envs gym:FrozenLake-v1 --json
      agentenv envs webarena --list original --file test.raw.json
    """
    from agentenv.cli.tables import print_json, print_table

    if env is not None:
        from agentenv.cli.card import card, print_card
        from agentenv.cli.target import target

        spec, options = target(env, env_option or [])
        if list_ is not None:
            listed = _listed(spec, list_, file)
            return print_json(listed) if json else print_table(listed, tuple(listed[0]) if listed else ("id",))
        about = card(spec, options)
        return print_json(about) if json else print_card(about)
    rows = listing()
    if json:
        return print_json(rows)
    print_table(({**row, "tasks": _counts(row["tasks"])} if "tasks" in row else _lost(row) for row in rows), COLUMNS)


def listing() -> list[dict[str, Any]]:
    """One row an env; a plug-in that cannot be used has `unavailable` with the reason instead of its facts."""
    from agentenv.errors import AgentEnvError
    from agentenv.plugins import Broken
    from agentenv.registry import all_specs

    rows: list[dict[str, Any]] = []
    for name, spec in all_specs().items():
        if isinstance(spec, Broken):
            rows.append({"env": name, "unavailable": spec.reason})
            continue
        row = {"env": spec.id, "title": spec.title, "version": spec.version}
        try:
            tasks = spec.task_set()
            counts = {split: tasks.count(split) for split in tasks.splits()}
        except AgentEnvError as exc:
            rows.append({**row, "unavailable": exc.message})
            continue
        rows.append({**row, "tasks": counts, "concurrency": spec.concurrency.value, "needs": list(spec.needs)})
    return rows


def _listed(spec: EnvSpec, name: str, file: Path | None) -> list[dict[str, Any]]:
    """The rows of one of an env's listings."""
    from agentenv.errors import BadCall

    names = {listing.name: listing for listing in spec.listings}
    if name not in names:
        raise BadCall(f"{spec.id} has no list {name!r}; it has {', '.join(names) or 'none'}")
    module, _, function = names[name].entry.partition(":")
    return list(getattr(importlib.import_module(module), function)(file))


def _counts(tasks: dict[str, int]) -> str:
    return ", ".join(f"{split} {count}" for split, count in tasks.items())


def _lost(row: dict[str, Any]) -> dict[str, Any]:
    return {**row, "title": f"unavailable: {row['unavailable']}"}
