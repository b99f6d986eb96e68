"""An engine without a model: it returns the ids that it was given, and remembers what it was asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agentenv.policy import Sampled, Sampling


class ScriptedEngine:
    """Each item is the ids of one turn; with `stops`, a turn that ends in none of them was cut by length."""

    def __init__(
        self, turns: Sequence[Sequence[int]], *, stops: Sequence[int] = (), context_tokens: int = 4096
    ) -> None:
        self.turns, self.stops = list(turns), set(stops)
        self.version = 0
        self.context_tokens = context_tokens
        self.prompts: list[list[int]] = []
        self.samplings: list[Sampling] = []

    async def generate(self, prompt_ids: Sequence[int], sampling: Sampling) -> Sampled:
        ids = list(self.turns[min(len(self.prompts), len(self.turns) - 1)])[: sampling.max_tokens]
        self.prompts.append(list(prompt_ids))
        self.samplings.append(sampling)
        return Sampled(
            token_ids=ids,
            logprobs=[-0.125 * (n + 1) for n in range(len(ids))],
            finish_reason="stop" if ids and ids[-1] in self.stops else "length",
            policy_version=self.version,
        )

    async def score(self, token_ids: Sequence[int], start: int, temperature: float = 1.0) -> list[float]:
        return [-1.0] * (len(token_ids) - start)

    async def push(self, weights: Any, version: int) -> None:
        self.version = version

    async def close(self) -> None:
        pass
