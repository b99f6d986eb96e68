"""An episode as a chain of the tokens that its policy sampled: what lies between them, and where its history was split,
is left out, so that every estimator sees one unbroken sequence.

Legend of dimensions: N sampled tokens of one episode, K its turns.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from agentenv.errors import AgentEnvError
from trainers.algorithms.estimators import Array
from trainers.algorithms.rewards import bootstraps
from trainers.batch import Episode, Floats, sampled_of

Index = NDArray[np.int64]


class BadBatch(AgentEnvError):
    """An array of an episode is missing, does not fit the others, or is not finite where it counts."""

    code = "bad_batch"


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """Example: turns of two and three tokens that earned 0 and 1, no KL in the reward: `rewards_N = [0, 0, 0, 0, 1]`,
    `first_K = [0, 2]`, `turn_N = [0, 0, 1, 1, 1]`.
    """

    rewards_N: Array
    """Each turn's reward on its last token, less the KL penalty of each token."""
    turn_N: Index
    first_K: Index
    """Where in the chain each turn begins."""
    values_N: Array | None
    """The critic's, as recorded; None without a critic."""
    bootstrap: float
    """Value of the state after the last action; 0 after a real end."""
    k1_N: Array | None
    """log old - log reference; None without a reference."""

    @property
    def reward(self) -> float:
        """Of the whole episode, less its KL penalty."""
        return float(self.rewards_N.sum())


def chain_of(episode: Episode, *, kl_penalty: float = 0.0, critic: bool = False) -> Chain:
    """The chain of `episode`; `kl_penalty` is what a nat of k1 costs. Raises BadBatch."""
    turn_N = _turns(episode)
    first_K = np.flatnonzero(np.diff(turn_N, prepend=-1))
    last_K = np.append(first_K[1:], len(turn_N)) - 1
    rewards_N = np.zeros(len(turn_N))
    rewards_N[last_K] = episode.turn_rewards
    k1_N = _k1(episode, needed=kl_penalty != 0.0)
    if k1_N is not None and kl_penalty:
        rewards_N -= kl_penalty * k1_N
    _refuse_non_finite(episode, "reward", rewards_N)
    values_N = _sampled(episode, "values") if critic else None
    after = episode.truncated_value if bootstraps(episode.outcome) else None
    if after is not None:
        _refuse_non_finite(episode, "truncated_value", np.array([after]))
    return Chain(
        rewards_N=rewards_N, turn_N=turn_N, first_K=first_K, values_N=values_N, bootstrap=after or 0.0, k1_N=k1_N
    )


def name_of(episode: Episode) -> str:
    """For messages."""
    return f"{episode.task} (group {episode.group}, member {episode.member})"


def _turns(episode: Episode) -> Index:
    turn_N = np.concatenate([s.turn[s.mask] for s in episode.segments]) if episode.segments else np.zeros(0, np.int64)
    steps = np.diff(turn_N, prepend=-1)
    complete = len(turn_N) and turn_N[-1] == len(episode.turn_rewards) - 1
    if not complete or steps[0] != 1 or not np.isin(steps, (0, 1)).all():
        raise BadBatch(
            f"{name_of(episode)}: {len(episode.turn_rewards)} turn rewards, but its sampled tokens are of turns "
            f"{sorted(set(turn_N.tolist()))}; each turn has sampled tokens, in order, and one reward"
        )
    return turn_N


def _k1(episode: Episode, *, needed: bool) -> Array | None:
    if not needed and any(s.ref_logprobs is None or s.old_logprobs is None for s in episode.segments):
        return None
    return _sampled(episode, "old_logprobs") - _sampled(episode, "ref_logprobs")


def _sampled(episode: Episode, name: str) -> Array:
    """One kind of numbers at the sampled tokens, where each of them must be there and finite."""
    arrays: list[Floats | None] = [getattr(s, name) for s in episode.segments]
    if any(a is None for a in arrays):
        raise BadBatch(f"{name_of(episode)}: a segment has no {name}")
    found_N = sampled_of(episode, arrays).astype(np.float64)
    _refuse_non_finite(episode, name, found_N)
    return found_N


def _refuse_non_finite(episode: Episode, name: str, found_N: Array) -> None:
    bad_N = np.flatnonzero(~np.isfinite(found_N))
    if len(bad_N):
        raise BadBatch(f"{name_of(episode)}: {name} is {found_N[bad_N[0]]} at sampled token {bad_N[0]}")
