"""A language model in a conversation: observations in, one thought and one action out, in a format that is data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from agentenv.agents.base import AgentSpec, Move, Seat
from agentenv.agents.parse import parse
from agentenv.agents.prompts import load_format, opening_of
from agentenv.errors import EpisodeCut
from agentenv.policy import Policy
from agentenv.protocol import Outcome
from agentenv.registry import Option

VERSION = "1"
"""Changes when an equal model and prompt would play an equal episode differently."""
FORMAT = "react"

SETTINGS = (
    Option(name="temperature", type=float, default=None, help="of sampling; unset: the endpoint's own", low=0),
    Option(name="max_tokens", type=int, default=512, help="of one completion", low=1),
    Option(name="seed", type=int, default=None, help="sent with each request, mixed with the episode's own", low=0),
    Option(name="context_tokens", type=int, default=None, help="the conversation ends when it is longer", low=1),
    Option(name="timeout_s", type=float, default=300.0, help="for one request", low=0.001),
    Option(name="retries", type=int, default=5, help="of a request that failed", low=0),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """What holds for a conversation beside the policy's own sampling."""

    seed: int | None = None
    """None: the endpoint's own chance. Else each request has a seed of its own, fixed by this, task and attempt."""
    context_tokens: int | None = None
    """The episode ends as `context_full` when the endpoint counted this many; for endpoints that cut silently."""


class React:
    """One episode's conversation. Opening and acknowledgement first, then observations and completions in turn."""

    def __init__(self, policy: Policy, bounds: Bounds, format: str | None = None) -> None:
        """`format`: None takes the one that the env's prompt asks for."""
        self._policy, self._bounds, self._format = policy, bounds, format
        self._conversation: list[dict[str, Any]] = []
        self._tokens = 0

    async def start(self, seat: Seat) -> None:
        """Open the conversation with the env's prompt."""
        self._seat = seat
        self._opening = opening_of(seat.spec, self._format)
        self._unsaid: list[dict[str, Any]] = [*self._opening.prompt.messages]

    async def act(self, observation: str) -> Move:
        """Show the observation and read the completion."""
        self._check_bound()
        added = [*self._unsaid, {"role": "user", "content": observation}]
        completion = await self._policy.complete([*self._conversation, *added], seed=self._next_seed())
        added.append({"role": "assistant", "content": completion.text})
        self._conversation += added
        self._tokens = (completion.prompt_tokens or 0) + (completion.completion_tokens or 0)
        parsed = parse(completion.text, self._opening.format, cut=completion.finish_reason == "length")
        notes = {"extra_text": True} if parsed.extra_text else {}
        self._unsaid = []
        return Move(action=parsed.as_action(completion.text), completion=completion, messages=added, notes=notes)

    def _check_bound(self) -> None:
        bound = self._bounds.context_tokens
        if bound is not None and self._tokens >= bound:
            raise EpisodeCut(Outcome.CONTEXT_FULL, f"{self._tokens} tokens of conversation; context_tokens={bound}")

    def _next_seed(self) -> int | None:
        if self._bounds.seed is None:
            return None
        return (self._bounds.seed + self._seat.rng.getrandbits(31)) % 2**31


def react(
    *,
    model: str,
    model_url: str,
    temperature: float | str | None = None,
    max_tokens: int | str = 512,
    seed: int | str | None = None,
    context_tokens: int | str | None = None,
    timeout_s: float | str = 300.0,
    retries: int | str = 5,
) -> AgentSpec:
    """The agent `react` over an OpenAI-compatible endpoint; its key is read from OPENAI_API_KEY alone.

    Settings may be text, as a command line has them; UnknownOption names one that does not fit.
    """
    from agentenv.endpoint import EndpointSettings, OpenAIPolicy

    given: Mapping[str, Any] = {
        "temperature": temperature,
        "max_tokens": max_tokens,
        "seed": seed,
        "context_tokens": context_tokens,
        "timeout_s": timeout_s,
        "retries": retries,
    }
    value = {option.name: option.parse(given[option.name]) for option in SETTINGS}
    bounds = Bounds(seed=value.pop("seed"), context_tokens=value.pop("context_tokens"))
    policy = OpenAIPolicy(EndpointSettings(model=model, url=model_url, **value))

    async def preflight() -> str:
        return str(await policy.preflight())

    spec = react_over(policy, bounds)
    return replace(spec, preflight=preflight)


def react_over(policy: Policy, bounds: Bounds | None = None) -> AgentSpec:
    """The agent `react` over any policy."""
    bounds = bounds or Bounds()
    describe = {
        "name": "react",
        "version": VERSION,
        "format": f"{FORMAT}@{load_format(FORMAT).version}",
        **policy.describe(),
        **asdict(bounds),
    }
    return AgentSpec(
        name="react",
        describe=describe,
        make=lambda: React(policy, bounds),
        close=policy.close,
        prompt=lambda spec: opening_of(spec).describe(),
    )
