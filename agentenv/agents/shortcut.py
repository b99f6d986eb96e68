"""Agents that an env ships against itself: each takes one shortcut instead of playing."""

from __future__ import annotations

import difflib
import importlib
from typing import cast

from agentenv.agents.base import Agent, AgentSpec, Move, Seat
from agentenv.errors import BadAgent
from agentenv.registry import EnvSpec, Shortcut, get_spec

VERSION = "1"
"""Of how shortcuts are found; what one does belongs to its env's version."""


class ShortcutAgent:
    """Finds out at the start of an episode which agent of the env it is."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._agent: Agent | None = None

    async def start(self, seat: Seat) -> None:
        """Load the env's own agent and seat it."""
        found = shortcut_of(get_spec(seat.spec.id), self._name)
        module, _, factory = found.entry.partition(":")
        self._agent = cast(Agent, getattr(importlib.import_module(module), factory)())
        await self._agent.start(seat)

    async def act(self, observation: str) -> Move:
        """Its move."""
        assert self._agent is not None
        return await self._agent.act(observation)


def shortcut(name: str) -> AgentSpec:
    """The agent `shortcut:name`."""
    full = f"shortcut:{name}"
    return AgentSpec(name=full, describe={"name": full, "version": VERSION}, make=lambda: ShortcutAgent(name))


def shortcut_of(spec: EnvSpec, name: str) -> Shortcut:
    """The env's shortcut of that name; BadAgent names those that it has."""
    names = [s.name for s in spec.shortcuts]
    if name not in names:
        close = difflib.get_close_matches(name, names, n=1)
        hint = f"did you mean {close[0]!r}?" if close else f"it has: {', '.join(names) or 'none'}"
        raise BadAgent(f"{spec.id} has no shortcut {name!r}; {hint}")
    return spec.shortcuts[names.index(name)]
