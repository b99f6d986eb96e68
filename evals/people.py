"""People as an agent: how their episodes become rows. Nobody's name is stored, only the pseudonym that they chose.

All people together are one row: the runs of each (one run a person and suite, which grows with every task played) are
pooled. Episodes with hints are a row of their own: who sees the list of possible actions plays another game.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from agentenv.errors import BadCall

HUMAN, HINTED = "human", "human with hints"
VERSION = "1"
"""Changes when the page shows something that would make people play otherwise."""

ENOUGH_PEOPLE, ENOUGH_TASKS = 3, 30
"""Fewer of either are shown and never ranked."""

_PSEUDONYM = re.compile(r"[a-z0-9][a-z0-9._-]{0,31}")


class BadPseudonym(BadCall):
    """A name that cannot be stored."""

    code = "bad_pseudonym"


def pseudonym(text: str) -> str:
    """The name as it is stored; BadPseudonym says what it may be made of."""
    name = text.strip().lower()
    if not _PSEUDONYM.fullmatch(name):
        raise BadPseudonym("a pseudonym has 1 to 32 letters (a to z), digits, dots, hyphens or underscores")
    return name


def description(*, hints: bool) -> dict[str, Any]:
    """What makes all people one agent."""
    return {"name": HUMAN, "version": VERSION, "hints": hints}


def label(*, hints: bool) -> str:
    """What tables call it."""
    return HINTED if hints else HUMAN


def is_human(agent_data: Mapping[str, Any]) -> bool:
    """Whether a run's agent is people."""
    return agent_data.get("name") == HUMAN


def shown(agent: str, people: int, tasks: int) -> str:
    """`human (3 people, 41 tasks)`"""
    return f"{agent} ({people} {'person' if people == 1 else 'people'}, {tasks} task{'' if tasks == 1 else 's'})"


def too_few(people: int, tasks: int) -> str | None:
    """Why so few are not ranked; None when they are enough."""
    if people < ENOUGH_PEOPLE:
        return f"under {ENOUGH_PEOPLE} people"
    return f"under {ENOUGH_TASKS} tasks" if tasks < ENOUGH_TASKS else None
