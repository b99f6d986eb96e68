"""The table of prefixes: what is known of an item of AgentGym's data from its id alone."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A line of `kinds.yaml`, which says what its fields mean."""

    name: str
    prefixes: tuple[str, ...]
    rounds: int
    names: str = ""
    env: str = ""
    ranges: tuple[tuple[int, int, str], ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    needs: str = ""
    asks: tuple[str, ...] = ()
    takes: tuple[str, ...] = ()
    stands_in: bool = False
    why: str = ""
    format: str = "react"
    drops: str = ""
    full: float = 1.0
    scale: float = 1.0
    floor: float | None = None

    def sent(self, action: str) -> str:
        """An action as the reference's client sends it."""
        return " ".join(re.sub(self.drops, "", action).split()) if self.drops else action

    def reward(self, recorded: float) -> float:
        """The return here of an episode that was recorded with this reward."""
        scaled = recorded * self.scale
        return scaled if self.floor is None else max(scaled, self.floor)


@functools.cache
def kinds() -> tuple[Kind, ...]:
    """The table."""
    import msgspec

    text = files(__package__).joinpath("kinds.yaml").read_bytes()
    return tuple(msgspec.yaml.decode(text, type=list[Kind]))


def kind_of(item_id: str) -> tuple[Kind, str] | None:
    """The kind of an item, and what of its id names the task; None for an id of no kind."""
    fitting = [(prefix, kind) for kind in kinds() for prefix in kind.prefixes if item_id.startswith(prefix)]
    if fitting:
        prefix, kind = max(fitting, key=lambda pair: len(pair[0]))
        return kind, item_id.removeprefix(prefix)
    named = next((kind for kind in kinds() if kind.names and re.fullmatch(kind.names, item_id)), None)
    return None if named is None else (named, item_id)
