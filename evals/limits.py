"""How much a sitting may spend: it stops between episodes, and the run can be resumed."""

from __future__ import annotations

from dataclasses import dataclass

from agentenv.trajectory import Trajectory
from evals.store.records import cost, tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Of everything that the runs of one command spend, earlier sittings included; None: no limit."""

    cost: float | None = None
    """In the currency of the price table."""
    tokens: int | None = None
    """Prompt and completion."""


class Meter:
    """What was spent so far, and whether that is enough."""

    def __init__(self, limits: Limits, *, cost: float = 0.0, tokens: int = 0) -> None:
        self.limits, self.cost, self.tokens = limits, cost, tokens

    def add(self, episode: Trajectory) -> None:
        """Count one more episode, an invalid one too."""
        self.tokens += sum(tokens(episode.turns, name) or 0 for name in ("prompt_tokens", "completion_tokens"))
        self.cost += cost(episode.turns) or 0.0

    def reached(self, episode: Trajectory) -> str | None:
        """Why no further episode may begin after this one; None when it may."""
        limits = self.limits
        if limits.tokens is not None:
            if _asked(episode) and tokens(episode.turns, "completion_tokens") is None:
                return "the limit of tokens cannot be kept: the endpoint does not say how many it took"
            if self.tokens >= limits.tokens:
                return f"the limit of {limits.tokens:,} tokens is reached: {self.tokens:,}"
        if limits.cost is not None:
            if _asked(episode) and cost(episode.turns) is None:
                return "the limit of cost cannot be kept: what an episode cost is unknown; --agent-option prices=FILE"
            if self.cost >= limits.cost:
                return f"the limit of {limits.cost:g} is reached: {self.cost:.4f}"
        return None


def _asked(episode: Trajectory) -> bool:
    """Whether a model was asked for any turn."""
    return any("latency_s" in turn.info.get("agent", {}) for turn in episode.turns)
