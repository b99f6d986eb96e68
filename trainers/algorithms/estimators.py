"""Estimators of advantages, as functions of plain arrays; computed in float64.

Legend of dimensions: N a chain of sampled tokens (or of turns), G members of a group, M numbers of a whole batch.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

STD_FLOOR = 1e-6
"""Rewards that differ by less than this do not differ."""


def gae(rewards: ArrayLike, values: ArrayLike, *, bootstrap: float, gamma: float, lam: float) -> Array:
    """Generalized advantage estimation; `bootstrap` is the value after the last entry. Returns are these + values."""
    rewards_N, values_N = _doubles(rewards), _doubles(values)
    next_values_N = np.append(values_N[1:], bootstrap)
    deltas_N = rewards_N + gamma * next_values_N - values_N
    return discounted(deltas_N, gamma * lam)


def discounted(rewards: ArrayLike, gamma: float) -> Array:
    """What comes from each entry on: the entry, and `gamma` times what comes from the next on."""
    sums: list[float] = _doubles(rewards).tolist()
    for n in range(len(sums) - 2, -1, -1):
        sums[n] += gamma * sums[n + 1]
    return _doubles(sums)


def grpo(rewards: ArrayLike, *, std_normalize: bool = True) -> Array:
    """Rewards against the mean of their group, in units of its sample standard deviation."""
    rewards_G = _group(rewards, "grpo")
    std = float(rewards_G.std(ddof=1))
    if std < STD_FLOOR:
        return np.zeros_like(rewards_G)
    centred_G: Array = rewards_G - rewards_G.mean()
    if std_normalize:
        centred_G /= std + STD_FLOOR
    return centred_G


def rloo(rewards: ArrayLike) -> Array:
    """Each reward against the mean of the others."""
    rewards_G = _group(rewards, "rloo")
    if rewards_G.std(ddof=1) < STD_FLOOR:
        return np.zeros_like(rewards_G)
    others_G = (rewards_G.sum() - rewards_G) / (len(rewards_G) - 1)
    gains_G: Array = rewards_G - others_G
    return gains_G


def remax(rewards: ArrayLike, *, baseline: float) -> Array:
    """Rewards against that of the greedy episode of the same task."""
    gains_G = _doubles(rewards) - baseline
    return gains_G if (np.abs(gains_G) >= STD_FLOOR).any() else np.zeros_like(gains_G)


def whiten(numbers: ArrayLike) -> Array:
    """Mean 0 and sample standard deviation 1; exactly 0 where the numbers do not differ."""
    numbers_M = _doubles(numbers)
    std = float(numbers_M.std(ddof=1)) if len(numbers_M) > 1 else 0.0
    if std < STD_FLOOR:
        return np.zeros_like(numbers_M)
    white_M: Array = (numbers_M - numbers_M.mean()) / std
    return white_M


def _group(rewards: ArrayLike, estimator: str) -> Array:
    rewards_G = _doubles(rewards)
    if len(rewards_G) < 2:
        raise ValueError(f"{estimator} compares the members of a group; a group of {len(rewards_G)} has none")
    return rewards_G


def _doubles(numbers: ArrayLike) -> Array:
    return np.asarray(numbers, np.float64)
