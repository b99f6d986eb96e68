"""Estimators of advantages, as functions of plain arrays; computed in float64.

Legend of dimensions: N a chain of sampled tokens (or of turns), G members of a group, M numbers of a whole batch.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

STD_FLOOR = 1e-6
"""Rewards that differ by less than this do not differ."""


def gae(rewards_N: ArrayLike, values_N: ArrayLike, *, bootstrap: float, gamma: float, lam: float) -> Array:
    """Generalized advantage estimation; `bootstrap` is the value after the last entry. Returns are these + values."""
    values_N = _doubles(values_N)
    next_values_N = np.append(values_N[1:], bootstrap)
    deltas_N = _doubles(rewards_N) + gamma * next_values_N - values_N
    return discounted(deltas_N, gamma * lam)


def discounted(rewards_N: ArrayLike, gamma: float) -> Array:
    """What comes from each entry on: the entry, and `gamma` times what comes from the next on."""
    sums_N = _doubles(rewards_N).copy()
    for n in range(len(sums_N) - 2, -1, -1):
        sums_N[n] += gamma * sums_N[n + 1]
    return sums_N


def grpo(rewards_G: ArrayLike, *, std_normalize: bool = True) -> Array:
    """Rewards against the mean of their group, in units of its sample standard deviation."""
    rewards_G = _group(rewards_G, "grpo")
    std = rewards_G.std(ddof=1)
    if std < STD_FLOOR:
        return np.zeros_like(rewards_G)
    centred_G = rewards_G - rewards_G.mean()
    return centred_G / (std + STD_FLOOR) if std_normalize else centred_G


def rloo(rewards_G: ArrayLike) -> Array:
    """Each reward against the mean of the others."""
    rewards_G = _group(rewards_G, "rloo")
    if rewards_G.std(ddof=1) < STD_FLOOR:
        return np.zeros_like(rewards_G)
    others_G = (rewards_G.sum() - rewards_G) / (len(rewards_G) - 1)
    return rewards_G - others_G


def remax(rewards_G: ArrayLike, *, baseline: float) -> Array:
    """Rewards against that of the greedy episode of the same task."""
    gains_G = _doubles(rewards_G) - baseline
    return gains_G if (np.abs(gains_G) >= STD_FLOOR).any() else np.zeros_like(gains_G)


def whiten(numbers_M: ArrayLike) -> Array:
    """Mean 0 and sample standard deviation 1; exactly 0 where the numbers do not differ."""
    numbers_M = _doubles(numbers_M)
    std = numbers_M.std(ddof=1) if len(numbers_M) > 1 else 0.0
    if std < STD_FLOOR:
        return np.zeros_like(numbers_M)
    return (numbers_M - numbers_M.mean()) / std


def _doubles(numbers: ArrayLike) -> Array:
    return np.asarray(numbers, np.float64)


def _group(rewards_G: ArrayLike, estimator: str) -> Array:
    rewards_G = _doubles(rewards_G)
    if len(rewards_G) < 2:
        raise ValueError(
            f"{estimator} compares the members of a group; a group of {len(rewards_G)} has none to compare"
        )
    return rewards_G
