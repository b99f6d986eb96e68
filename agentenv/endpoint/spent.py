"""What all episodes of a policy have used so far, for limits over a whole run."""

from __future__ import annotations

from dataclasses import dataclass

from agentenv.policy import Completion


@dataclass(kw_only=True)
class Spent:
    """Sums over every completion, those of refused and lost episodes too."""

    completions: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    """A part of prompt_tokens."""
    reasoning_tokens: int = 0
    """A part of completion_tokens."""
    cost: float = 0.0
    untold: int = 0
    """Completions whose tokens the endpoint did not tell; the sums are then lower bounds."""
    unpriced: int = 0
    """Completions whose cost is not known."""

    def add(self, completion: Completion) -> None:
        """Count one more."""
        self.completions += 1
        self.prompt_tokens += completion.prompt_tokens or 0
        self.completion_tokens += completion.completion_tokens or 0
        self.cached_tokens += completion.cached_tokens or 0
        self.reasoning_tokens += completion.reasoning_tokens or 0
        self.untold += completion.prompt_tokens is None or completion.completion_tokens is None
        self.cost += completion.cost or 0.0
        self.unpriced += completion.cost is None
