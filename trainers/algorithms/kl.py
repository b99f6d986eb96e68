"""Distance to the reference model: what is measured, and the coefficient that it costs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import numpy as np

from trainers.algorithms.chain import chain_of
from trainers.batch import TokenBatch
from trainers.config import KlSettings

MAX_ERROR = 0.2
"""A controller's relative error counts at most so much."""


def measured(batch: TokenBatch) -> float:
    """Nats by which an episode of `batch` lies from the reference: mean over episodes of the sum of k1 over tokens.

    This is what an adaptive controller compares with `kl.target`. 0 for an empty batch.
    """
    chains = [chain_of(e) for e in batch.episodes]
    sums = [float(c.k1_N.sum()) for c in chains if c.k1_N is not None]
    if len(sums) != len(chains):
        raise ValueError(f"{len(chains) - len(sums)} episodes have no log-probabilities of the reference")
    return float(np.mean(sums)) if sums else 0.0


def adapted(coef: float, *, kl: float, episodes: int, target: float, horizon: int) -> float:
    """The next coefficient: larger while `kl` is over `target`, smaller while under, slowly by `horizon` episodes."""
    error = min(max(kl / target - 1, -MAX_ERROR), MAX_ERROR)
    return coef * (1 + error * episodes / horizon)


class KlController(Protocol):
    """Holds the coefficient of the KL term over the run."""

    coef: float

    def update(self, kl: float, *, episodes: int) -> None:
        """Take note of a step's `measured` KL, over so many episodes."""

    def state(self) -> dict[str, float]:
        """What a checkpoint stores."""

    def restore(self, state: Mapping[str, float]) -> None:
        """Go on from there."""


class Fixed:
    """The coefficient of the settings, always."""

    def __init__(self, settings: KlSettings) -> None:
        self.coef = settings.coef

    def update(self, kl: float, *, episodes: int) -> None:
        """Change nothing."""

    def state(self) -> dict[str, float]:
        """See `KlController.state`."""
        return {"coef": self.coef}

    def restore(self, state: Mapping[str, float]) -> None:
        """Keep the coefficient of the settings: it may be changed between two runs."""


class Adaptive:
    """Moves the coefficient so that the KL comes to the target."""

    def __init__(self, settings: KlSettings) -> None:
        self.coef, self._target, self._horizon = settings.coef, settings.target, settings.horizon

    def update(self, kl: float, *, episodes: int) -> None:
        """See `adapted`."""
        self.coef = adapted(self.coef, kl=kl, episodes=episodes, target=self._target, horizon=self._horizon)

    def state(self) -> dict[str, float]:
        """See `KlController.state`."""
        return {"coef": self.coef}

    def restore(self, state: Mapping[str, float]) -> None:
        """See `KlController.restore`."""
        self.coef = state["coef"]


def controller(settings: KlSettings) -> KlController:
    """The controller that `kl.controller` names."""
    return Adaptive(settings) if settings.controller == "adaptive" else Fixed(settings)
