"""What samples: a `Policy` turns messages into a `Completion`. Agents hold one; engines and endpoints are ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

Message = Mapping[str, Any]
"""`{"role": "system" | "user" | "assistant", "content": str}`, as chat templates take it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """What a policy sampled."""

    text: str
    """As the agent's parser should see it: reasoning already taken out."""
    raw: str = ""
    """As the model gave it, when that differs."""
    prompt_tokens: int | None = None
    """None when the endpoint does not say; never 0 in its place."""
    completion_tokens: int | None = None
    reasoning_tokens: int | None = None
    cached_tokens: int | None = None
    finish_reason: str = ""
    """`stop`, `length`, `content_filter` or what the endpoint calls it."""
    retries: int = 0
    latency_s: float = 0.0
    prompt_ids: list[int] | None = None
    """[P] the whole prompt as the policy saw it."""
    token_ids: list[int] | None = None
    """[T] as sampled."""
    logprobs: list[float] | None = None
    """[T]"""
    policy_version: int | None = None
    notes: Mapping[str, Any] = field(default_factory=dict)
    """What else should be kept in the record."""


class Policy(Protocol):
    """Messages in, completion out."""

    def describe(self) -> dict[str, Any]:
        """Model, endpoint kind and sampling: what makes two policies the same one."""

    async def complete(self, messages: Sequence[Message], *, seed: int | None = None) -> Completion:
        """Sample once; with a seed, and an engine that takes one, equal calls sample equally.

        Raises EpisodeCut: `context_full` when the prompt is too long, `agent_error` on a refusal by a content filter,
        `infra_lost` when the endpoint is gone after retries.
        """

    async def close(self) -> None:
        """Free connections."""
