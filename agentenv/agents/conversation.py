"""What every agent that asks a model does alike: the growing conversation, its seeds, and what an episode may use."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agentenv.agents.base import Seat
from agentenv.errors import EpisodeCut
from agentenv.policy import Completion, Policy
from agentenv.protocol import Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """What holds for a conversation beside the policy's own sampling."""

    seed: int | None = None
    """None: the endpoint's own chance. Else each request has a seed of its own, fixed by this, task and attempt."""
    context_tokens: int | None = None
    """The episode ends as `context_full` when the endpoint counted this many; for endpoints that cut silently."""
    max_episode_tokens: int | None = None
    """Read and written in all requests of an episode together; it ends as `agent_error` when it has used them."""
    max_episode_cost: float | None = None
    """In the currency of the price table; the episode ends as `agent_error` when it has cost this."""


class Conversation:
    """One episode's messages and what they have used."""

    def __init__(self, policy: Policy, bounds: Bounds, seat: Seat, opening: Sequence[Mapping[str, Any]]) -> None:
        self._policy, self._bounds, self._seat = policy, bounds, seat
        self._said: list[dict[str, Any]] = []
        self._unsaid = [dict(message) for message in opening]
        self._context = 0
        self._tokens: int | None = 0
        self._cost: float | None = 0.0

    async def ask(
        self, messages: Sequence[Mapping[str, Any]], **settings: Any
    ) -> tuple[Completion, list[dict[str, Any]]]:
        """The model's answer to these further messages, and what this turn added to the conversation.

        EpisodeCut when the episode has used what it may. `settings` go to the policy.
        """
        self._check_bounds()
        added = [*self._unsaid, *map(dict, messages)]
        completion = await self._policy.complete([*self._said, *added], seed=self._next_seed(), **settings)
        added.append(said_by(completion))
        self._said += added
        self._unsaid = []
        self._count(completion)
        return completion, added

    def _count(self, completion: Completion) -> None:
        read, written = completion.prompt_tokens, completion.completion_tokens
        self._context = (read or 0) + (written or 0)
        self._tokens = None if None in (self._tokens, read, written) else (self._tokens or 0) + self._context
        cost = completion.cost
        self._cost = None if self._cost is None or cost is None else self._cost + cost

    def _check_bounds(self) -> None:
        bounds = self._bounds
        if bounds.context_tokens is not None and self._context >= bounds.context_tokens:
            said = f"{self._context} tokens of conversation; context_tokens={bounds.context_tokens}"
            raise EpisodeCut(Outcome.CONTEXT_FULL, said)
        _check_cap("max_episode_tokens", self._tokens, bounds.max_episode_tokens)
        _check_cap("max_episode_cost", self._cost, bounds.max_episode_cost)

    def _next_seed(self) -> int | None:
        if self._bounds.seed is None:
            return None
        return (self._bounds.seed + self._seat.rng.getrandbits(31)) % 2**31


def said_by(completion: Completion) -> dict[str, Any]:
    """A completion as the assistant's message.

    Endpoints refuse a conversation in which they cannot read a call, even their own model's: such a name is spelled in
    letters that they take, and such arguments are left out. The turn's action has both as they were.
    """
    message: dict[str, Any] = {"role": "assistant", "content": completion.text}
    if completion.tool_calls:
        message["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {
                    "name": re.sub(r"[^A-Za-z0-9_-]", "_", call.name)[:64],
                    "arguments": call.arguments if _is_object(call.arguments) else "{}",
                },
            }
            for call in completion.tool_calls
        ]
    return message


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def _check_cap(name: str, used: float | None, cap: float | None) -> None:
    if cap is None:
        return
    if used is None:  # the cap cannot be held, and that is not the agent's doing
        raise EpisodeCut(Outcome.INFRA_LOST, f"the endpoint does not tell what {name}={cap:g} needs to know")
    if used >= cap:
        raise EpisodeCut(Outcome.AGENT_ERROR, f"the episode has used {used:g}; {name}={cap:g}")
