"""The card of one environment: all that is known before it is played, as data and as text for people."""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import typer

from agentenv.cli.tables import print_table

if TYPE_CHECKING:
    from agentenv.registry import EnvSpec

LINES = ("world", "licence", "concurrency", "max_steps", "reward_range", "return_range", "needs", "extra", "replay")


def card(spec: EnvSpec, options: dict[str, Any]) -> dict[str, Any]:
    """The spec's card, the splits under these options, and what the env's own `facts` adds."""
    tasks = spec.task_set(options)
    splits = {}
    for split in tasks.splits():
        found = [tasks.get(split, index) for index in range(tasks.count(split))]
        splits[split] = {
            "tasks": len(found),
            "by_difficulty": _counts(task.difficulty for task in found),
            "by_category": _counts(task.category for task in found),
            "templates": len({task.template for task in found if task.template}),
        }
    resolved = spec.resolve_options(options)
    about = {**spec.card(), "options_used": resolved, "tasks_digest": tasks.digest}
    return {
        **about,
        "unreplayable_because": spec.unreplayable_because(resolved),
        "splits": splits,
        "facts": facts(spec, options),
    }


def facts(spec: EnvSpec, options: dict[str, Any]) -> dict[str, Any]:
    """What the optional function `facts(options)` beside the env's task factory tells; empty without one."""
    found = getattr(importlib.import_module(spec.tasks.partition(":")[0]), "facts", None)
    return dict(found(spec.resolve_options(options))) if found else {}


def print_card(about: dict[str, Any]) -> None:
    """The card as text and tables."""
    typer.echo(f"{about['id']} {about['version']}: {about['title']}")
    for key in LINES:
        if about[key]:
            typer.echo(f"  {key.replace('_', ' ')}: {_words(about[key])}")
    if about["images"]:
        typer.echo("  pictures: for those who ask, such as rollout --images")
    if about["unreplayable_because"]:
        typer.echo(f"  not replayable under these options: {about['unreplayable_because']}")
    typer.echo(f"  success: {about['success_rule']}")
    typer.echo("  actions:")
    for line in about["action_grammar"].splitlines():
        typer.echo(f"    {line}")
    if about["functions"]:
        print_table(map(_function, about["functions"]), ("function", "arguments", "action", "about"))
    splits: dict[str, dict[str, Any]] = about["splits"]
    rows = ({"split": name, **split, "by_difficulty": _pairs(split["by_difficulty"])} for name, split in splits.items())
    print_table(rows, ("split", "tasks", "templates", "by_difficulty"))
    print_table(_categories(splits), ("category", *splits))
    if about["options"]:
        options = [{**o, "option": o["name"], "default": repr(o["default"])} for o in about["options"]]
        print_table(options, ("option", "type", "default", "scope", "choices", "help"))
    if about["shortcuts"]:
        shortcuts = [{**s, "shortcut": s["name"], "at most": f"{s['ceiling']:.1%}"} for s in about["shortcuts"]]
        print_table(shortcuts, ("shortcut", "at most", "split", "about"))
    for listing in about["listings"]:
        typer.echo(f"  --list {listing['name']}: {listing['about']}")
    for key, value in about["facts"].items():
        typer.echo(f"  {key.replace('_', ' ')}: {value}")


def _counts(values: Iterable[Any]) -> dict[str, int]:
    counted = Counter(values)
    return {str(value): counted[value] for value in sorted(counted) if value}


def _words(value: Any) -> str:
    if isinstance(value, (tuple, list)):
        return f"{value[0]:g} to {value[1]:g}" if isinstance(value[0], float) else ", ".join(map(str, value))
    return str(value)


def _function(function: Mapping[str, Any]) -> dict[str, Any]:
    """A row of the table of functions; an argument that may be left out has a question mark."""
    schema = function["parameters"]
    required = schema.get("required", ())
    arguments = [name if name in required else f"{name}?" for name in schema.get("properties", {})]
    about = {"function": function["name"], "action": function["text"], "about": function["description"]}
    return {**about, "arguments": arguments}


def _categories(splits: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    """A row a category: its tasks in each split."""
    names = sorted({name for split in splits.values() for name in split["by_category"]})
    return [
        {"category": name, **{split: found["by_category"].get(name, 0) for split, found in splits.items()}}
        for name in names
    ]


def _pairs(graded: Mapping[str, int]) -> str:
    return ", ".join(f"{level}: {count}" for level, count in graded.items())
