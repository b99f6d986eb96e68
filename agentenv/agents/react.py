"""A language model in a conversation: observations in, one text with one action out, in a format that is data."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from agentenv.agents.base import AgentSpec, Move, Seat
from agentenv.agents.conversation import Bounds, Conversation
from agentenv.agents.parse import NO_FUNCTIONS, parse
from agentenv.agents.prompts import load_format, opening_of
from agentenv.functions import FunctionTable
from agentenv.policy import Policy

VERSION = "1"
"""Changes when an equal model and prompt would play an equal episode differently."""
FORMAT = "react"


class React:
    """One episode's conversation. Opening and acknowledgement first, then observations and completions in turn."""

    def __init__(self, policy: Policy, bounds: Bounds, format: str | None = None) -> None:
        """`format`: None takes the one that the env's prompt asks for."""
        self._policy, self._bounds, self._format = policy, bounds, format

    async def start(self, seat: Seat) -> None:
        """Open the conversation with the env's prompt."""
        self._opening = opening_of(seat.spec, self._format)
        self._functions = FunctionTable.of(seat.spec.functions) if self._opening.format.call else NO_FUNCTIONS
        self._conversation = Conversation(self._policy, self._bounds, seat, self._opening.prompt.messages)

    async def act(self, observation: str) -> Move:
        """Show the observation and read the completion."""
        completion, added = await self._conversation.ask([{"role": "user", "content": observation}])
        cut = completion.finish_reason == "length"
        parsed = parse(completion.text, self._opening.format, cut=cut, functions=self._functions)
        notes = {"extra_text": True} if parsed.extra_text else {}
        return Move(action=parsed.as_action(completion.text), completion=completion, messages=added, notes=notes)


def react_over(
    policy: Policy, bounds: Bounds | None = None, *, name: str = FORMAT, format: str | None = None
) -> AgentSpec:
    """The agent `react` over any policy, or the agent `name` that asks for completions of `format`."""
    bounds = bounds or Bounds()
    return AgentSpec(
        name=name,
        describe=described(name, format or FORMAT, policy, bounds),
        make=lambda: React(policy, bounds, format),
        close=policy.close,
        prompt=lambda spec: opening_of(spec, format).describe(),
    )


def described(name: str, format: str, policy: Policy, bounds: Bounds) -> dict[str, Any]:
    """What makes two agents over a policy the same one; caps that are not set are no part of it."""
    caps = ("max_episode_tokens", "max_episode_cost")
    set_ = {key: value for key, value in asdict(bounds).items() if value is not None or key not in caps}
    form = load_format(format)
    return {"name": name, "version": VERSION, "format": f"{form.name}@{form.version}", **policy.describe(), **set_}
