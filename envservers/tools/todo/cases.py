"""A task from its template, key and phrasing: the world, the goal, the solution and the expected end."""

from __future__ import annotations

import functools
import random
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any

import yaml

from envservers.tools.todo.script import TEMPLATES, Script, Slots
from envservers.tools.todo.state import State
from envservers.tools.todo.templates import change, conditional, impossible, many, question  # noqa: F401  (register)
from envservers.tools.todo.world import world
from envservers.tools.toolkit.env import Case

HELD_OUT_PHRASINGS = 2
"""The last ones of each list."""


@functools.cache
def phrasings() -> Mapping[str, Sequence[str]]:
    """The goals by template."""
    text = resources.files(__package__).joinpath("phrasings.yaml").read_text(encoding="utf-8")
    found: Mapping[str, Sequence[str]] = yaml.safe_load(text)
    return found


@functools.lru_cache(maxsize=128)
def written(template: str, key: str, pool: str) -> tuple[Script, Slots]:
    """The script of a task, with what its goal names; NoFit where the world has nothing of the kind. Only read it."""
    script = Script(world(key, pool), random.Random(f"todo/{pool}/{key}/{template}"))
    return script, TEMPLATES[template].write(script)


def case(payload: Mapping[str, Any]) -> Case[State]:
    """The case that a task's payload describes."""
    script, slots = written(payload["template"], payload["key"], payload["pool"])
    words = phrasings()[TEMPLATES[payload["template"]].phrasings][payload["phrasing"]]
    return Case(
        goal=words.format(**slots),
        start=script.start,
        expected=script.state,
        answer=script.answer,
        calls=tuple(script.calls),
    )


def canonical(payload: Mapping[str, Any]) -> list[Any]:
    """What makes two tasks the same: the kind of goal whatever its wording, the names in it, and what it comes to.

    What it comes to is the answer and the names of the tasks that are not as before: worlds are all different, and a
    goal such as "complete what is overdue" names nothing of what it asks.
    """
    script, slots = written(payload["template"], payload["key"], payload["pool"])
    named = sorted((name, " ".join(value.casefold().split())) for name, value in slots.items())
    before, after = script.start.tasks, script.state.tasks
    touched = sorted({task.content for id, task in before.items() if after.get(id) is not task})
    answer = None if script.answer is None else script.answer["value"]
    return [TEMPLATES[payload["template"]].phrasings, named, touched, answer]
