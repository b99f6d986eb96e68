"""What samples: a `Policy` turns messages into a `Completion`. Agents hold one; engines and endpoints are ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

Message = Mapping[str, Any]
"""`{"role": "system" | "user" | "assistant", "content": str}`, as chat templates take it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A call of a function, as an endpoint tells it."""

    id: str
    name: str
    arguments: str
    """JSON text of the model's; not checked."""


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
    """[P] prompt tokens added since the last sampled token of this episode; the whole prompt when `fresh`."""
    fresh: bool | None = None
    """The prompt does not continue the tokens before it: the first turn, or a split."""
    prompt_len: int | None = None
    """Tokens in the whole prompt."""
    token_ids: list[int] | None = None
    """[T] as sampled."""
    logprobs: list[float] | None = None
    """[T]"""
    policy_version: int | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    """Calls that the endpoint tells beside the text."""
    cost: float | None = None
    """By the user's price table; None when there is none or something in it or in the counts is unknown."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """How an engine samples one completion."""

    temperature: float = 1.0
    """0 is greedy."""
    top_p: float = 1.0
    top_k: int = -1
    max_tokens: int = 512
    seed: int = 0
    """Equal prompt, weights and seed: equal tokens, on one engine and machine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampled:
    """What an engine sampled after one prompt."""

    token_ids: list[int]
    """[T] a sampled end-of-sequence token is kept."""
    logprobs: list[float]
    """[T] log_softmax(float32 logits / temperature) of each; at temperature 0 of the logits themselves."""
    finish_reason: str
    """`stop` after an end-of-sequence token, `length` at max_tokens or the model's context."""
    policy_version: int
    """Weights that sampled all of it."""


class Engine(Protocol):
    """Token ids in, token ids out. Entry point in the group `agentenv.engines`: a factory with keyword settings.

    Requests run side by side. A push happens with no request under way.
    """

    version: int
    """Of the weights in use; 0 before the first push."""
    context_tokens: int
    """Prompt and completion together."""

    async def generate(self, prompt_ids: Sequence[int], sampling: Sampling) -> Sampled:
        """Sample once. EpisodeCut(`context_full`) when the prompt leaves no room for one token."""

    async def score(self, token_ids: Sequence[int], start: int, temperature: float = 1.0) -> list[float]:
        """Log-probabilities of `token_ids[start:]`, each given all before it; for the push check."""

    async def push(self, weights: Iterable[tuple[str, Any]], version: int) -> None:
        """Take over weights (name, tensor) and drop every cache made with the old ones."""

    async def close(self) -> None:
        """End the engine; idempotent."""
