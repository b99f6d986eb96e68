"""What a learner is fed: the tokens of whole episodes, as sampled, with one number of each kind for each token.

Arrays are numpy: a batch is made and given its advantages once, by one controller, and then travels to every rank.

Legend of dimensions: T tokens of one segment, E episodes of a batch.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from agentenv.protocol import Outcome

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(kw_only=True)
class Segment:
    """Tokens that one forward pass sees together: a whole episode, or a part of it where its history was split.

    Example: prompt P, action A, reply E, action B: `tokens = P+A+E+B`, `mask` is True on A and B, `turn` is 0 on A, 1
    on B and -1 elsewhere. Every other array is 0 where `mask` is False.
    """

    tokens: Ints
    """[T] exactly as the engine saw and sampled them."""
    mask: Bools
    """[T] True on the tokens that the policy sampled; False on prompts, observations, markers."""
    turn: Ints
    """[T] the episode's turn that a sampled token belongs to; -1 elsewhere."""
    engine_logprobs: Floats
    """[T] under the engine's weights at the run's temperature."""
    old_logprobs: Floats | None = None
    """[T] by the learner, before the first update of this batch."""
    ref_logprobs: Floats | None = None
    """[T] by the reference model."""
    values: Floats | None = None
    """[T] V for token t, which is the critic's head at t-1; recorded once, before the update."""
    advantages: Floats | None = None
    """[T]"""
    returns: Floats | None = None
    """[T] targets of the critic: advantage + value, before any whitening."""
    value_mask: Bools | None = None
    """[T] where the critic learns; None: on `mask`. (By turn: only at each turn's first sampled token.)"""

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    def sampled(self) -> int:
        """How many tokens are trained."""
        return int(self.mask.sum())


@dataclass(kw_only=True)
class Episode:
    """One episode of a batch."""

    env: str
    task: str
    """Its task's id."""
    group: int
    """Number of its task in this step: members of one group share it."""
    member: int
    outcome: Outcome
    segments: list[Segment]
    turn_rewards: list[float]
    """By turn, after `reward.*` settings: all of it on the last turn with `placement: outcome`."""
    truncated_value: float | None = None
    """V of the state after the last action, where the outcome bootstraps; else None (0)."""
    final_tokens: Ints | None = None
    """Final observation and generation header, for that value: they continue the last segment. None: do not fit."""
    baseline: float | None = None
    """Reward of the greedy episode of the same task (remax)."""

    @property
    def reward(self) -> float:
        """The episode's reward, as group statistics see it."""
        return float(sum(self.turn_rewards))

    @property
    def sampled(self) -> int:
        """How many tokens are trained."""
        return sum(s.sampled for s in self.segments)


@dataclass(kw_only=True)
class TokenBatch:
    """The episodes of one training step."""

    step: int
    policy_version: int
    """Weights that sampled every turn of every episode here."""
    episodes: list[Episode]
    counts: dict[str, int] = field(default_factory=dict)
    """Episodes that were lost, dropped or refilled, by reason."""
    kl_coef: float | None = None
    """Of a KL in the loss, as the controller has it at this step; None: `kl.coef`."""
    steps: int | None = None
    """Of the whole run, for schedules; None: `run.steps`."""

    @property
    def segments(self) -> Iterator[Segment]:
        """Every segment, by episode."""
        return (s for e in self.episodes for s in e.segments)

    @property
    def sampled(self) -> int:
        """How many tokens are trained."""
        return sum(e.sampled for e in self.episodes)

    def groups(self) -> dict[int, list[Episode]]:
        """Episodes by group, in order of first appearance."""
        found: dict[int, list[Episode]] = {}
        for episode in self.episodes:
            found.setdefault(episode.group, []).append(episode)
        return found


def sampled_of(episode: Episode, values: Sequence[Floats | None]) -> Floats:
    """The entries of per-segment arrays at sampled tokens, over the whole episode in order."""
    parts = [v[s.mask] for s, v in zip(episode.segments, values, strict=True) if v is not None]
    return np.concatenate(parts) if parts else np.zeros(0, np.float32)


def spread(episode: Episode, sampled: NDArray[np.floating]) -> list[Floats]:
    """The inverse of `sampled_of`: values of an episode's sampled tokens as per-segment arrays, 0 elsewhere."""
    out: list[Floats] = []
    at = 0
    for segment in episode.segments:
        array = np.zeros(len(segment), np.float32)
        count = segment.sampled
        array[segment.mask] = sampled[at : at + count]
        out.append(array)
        at += count
    if at != len(sampled):
        raise ValueError(f"{len(sampled)} values for {at} sampled tokens")
    return out
