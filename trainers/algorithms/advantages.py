"""Advantages of a whole batch, once, before anything is sharded: `assign`.

Legend of dimensions: N sampled tokens of one episode, K its turns, G members of a group, M sampled tokens of the batch.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from trainers.algorithms import estimators
from trainers.algorithms.chain import BadBatch, Chain, chain_of, name_of
from trainers.algorithms.estimators import Array
from trainers.algorithms.rewards import bootstraps, keeps
from trainers.batch import Episode, Segment, TokenBatch, spread
from trainers.config import AlgorithmSettings, TrainConfig

BY_GROUP = ("grpo", "rloo", "remax")
"""Estimators that give an episode one number, from its reward and its group's."""
COMPARE_PEERS = ("grpo", "rloo")
"""Of those, the ones that need two members."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Assigned:
    """A batch with its advantages."""

    batch: TokenBatch
    """What is left to learn from; empty when nothing is. The batch that was given is unchanged."""
    dropped: dict[int, str]
    """Groups that were left out, with the reason: zero_variance, lone_survivor, no_baseline or context_full."""
    metrics: dict[str, float]


@dataclass(slots=True, kw_only=True)
class _Learned:
    """An episode on its way."""

    episode: Episode
    chain: Chain
    advantages_N: Array | None = None
    returns_N: Array | None = None
    value_mask_N: Array | None = None


def keeps_zero_groups(config: TrainConfig) -> bool:
    """Whether groups without a signal stay in the batch: as set, and always where a KL loss or entropy acts on them."""
    kl_loss = config.kl.placement == "loss" and config.kl.coef > 0
    return config.algorithm.zero_variance == "keep" or kl_loss or config.loss.entropy_coef != 0


def assign(batch: TokenBatch, config: TrainConfig, *, kl_coef: float) -> Assigned:
    """Give each sampled token of `batch` its advantage, and with gae its return; float64 inside, float32 out.

    `kl_coef` is the KL controller's; it acts here only with `kl.placement: reward`. Raises BadBatch.
    """
    algorithm = config.algorithm
    penalty = kl_coef if config.kl.placement == "reward" else 0.0
    episodes, masked = _kept(batch, config)
    learned = [
        _Learned(episode=e, chain=chain_of(e, kl_penalty=penalty, critic=algorithm.estimator == "gae"))
        for e in episodes
    ]
    reasons = {e.group: "context_full" for e in batch.episodes if e.group not in {k.group for k in episodes}}
    metrics = _reward_metrics(learned)
    if algorithm.estimator in BY_GROUP:
        by_group = _assign_by_group(learned, algorithm, keep_zero=keeps_zero_groups(config))
        metrics |= _group_metrics(learned, by_group)
        reasons |= by_group
        learned = [one for one in learned if one.episode.group not in reasons]
    else:
        _assign_by_token(learned, algorithm)
        metrics |= _value_metrics(learned) if algorithm.estimator == "gae" else {}
        _whiten(learned, algorithm.whiten)
    counts = Counter(batch.counts)
    counts["context_full_masked"] += masked
    counts.update(reasons[e.group] for e in episodes if e.group in reasons)
    done = replace(batch, episodes=[_finished(one) for one in learned], counts={k: n for k, n in counts.items() if n})
    metrics |= _advantage_metrics(learned)
    return Assigned(batch=done, dropped=reasons, metrics=metrics)


def _kept(batch: TokenBatch, config: TrainConfig) -> tuple[list[Episode], int]:
    """The episodes that are learned from, and how many `loss.mask_context_full` takes out."""
    for episode in batch.episodes:
        if not episode.outcome.trains:
            raise BadBatch(f"{name_of(episode)}: outcome {episode.outcome.value} is never learned from")
    kept = [e for e in batch.episodes if keeps(e.outcome, config.loss)]
    return kept, len(batch.episodes) - len(kept)


# --- one number for an episode


def _assign_by_group(learned: Sequence[_Learned], algorithm: AlgorithmSettings, *, keep_zero: bool) -> dict[int, str]:
    """Set advantages group by group; which groups are to be left out, and why."""
    groups: dict[int, list[_Learned]] = {}
    for one in learned:
        groups.setdefault(one.episode.group, []).append(one)
    reasons: dict[int, str] = {}
    for number, members in groups.items():
        if reason := _unfit(members, algorithm.estimator):
            reasons[number] = reason
            continue
        advantages_G = _of_group(members, algorithm)
        for one, advantage in zip(members, advantages_G, strict=True):
            one.advantages_N = np.full(len(one.chain.turn_N), advantage)
        if not keep_zero and not advantages_G.any():
            reasons[number] = "zero_variance"
    return reasons


def _unfit(members: Sequence[_Learned], estimator: str) -> str:
    if estimator in COMPARE_PEERS and len(members) < 2:
        return "lone_survivor"
    if estimator == "remax" and any(one.episode.baseline is None for one in members):
        return "no_baseline"
    return ""


def _of_group(members: Sequence[_Learned], algorithm: AlgorithmSettings) -> Array:
    rewards_G = np.array([one.chain.reward for one in members])
    if algorithm.estimator == "grpo":
        return estimators.grpo(rewards_G, std_normalize=algorithm.std_normalize)
    if algorithm.estimator == "rloo":
        return estimators.rloo(rewards_G)
    baselines = {one.episode.baseline for one in members}
    if len(baselines) != 1:
        raise BadBatch(
            f"group {members[0].episode.group} has several baselines: {baselines}; it has one greedy episode"
        )
    return estimators.remax(rewards_G, baseline=float(baselines.pop() or 0.0))


# --- a number for each token


def _assign_by_token(learned: Sequence[_Learned], algorithm: AlgorithmSettings) -> None:
    by_unit: dict[str, Callable[[_Learned, AlgorithmSettings], None]] = {"token": _gae_token, "turn": _gae_turn}
    one_by_one = by_unit[algorithm.gae_unit] if algorithm.estimator == "gae" else _reinforce_plus_plus
    for one in learned:
        one_by_one(one, algorithm)


def _reinforce_plus_plus(one: _Learned, algorithm: AlgorithmSettings) -> None:
    one.advantages_N = estimators.discounted(one.chain.rewards_N, algorithm.gamma)


def _gae_token(one: _Learned, algorithm: AlgorithmSettings) -> None:
    chain = one.chain
    assert chain.values_N is not None
    one.advantages_N = estimators.gae(
        chain.rewards_N, chain.values_N, bootstrap=chain.bootstrap, gamma=algorithm.gamma, lam=algorithm.lam
    )
    one.returns_N = one.advantages_N + chain.values_N


def _gae_turn(one: _Learned, algorithm: AlgorithmSettings) -> None:
    """One delta a turn, from the value at its first sampled token, where alone the critic learns."""
    chain = one.chain
    assert chain.values_N is not None
    rewards_K = np.add.reduceat(chain.rewards_N, chain.first_K)
    values_K = chain.values_N[chain.first_K]
    advantages_K = estimators.gae(
        rewards_K, values_K, bootstrap=chain.bootstrap, gamma=algorithm.gamma, lam=algorithm.lam
    )
    one.advantages_N = advantages_K[chain.turn_N]
    one.returns_N = np.zeros(len(chain.turn_N))
    one.returns_N[chain.first_K] = advantages_K + values_K
    one.value_mask_N = np.zeros(len(chain.turn_N))
    one.value_mask_N[chain.first_K] = 1


def _whiten(learned: Sequence[_Learned], scope: str) -> None:
    """Whiten advantages over every sampled token of the batch, or of each environment in it."""
    if scope == "none":
        return
    by_scope: dict[str, list[_Learned]] = {}
    for one in learned:
        by_scope.setdefault(one.episode.env if scope == "env" else "", []).append(one)
    for several in by_scope.values():
        white_M = estimators.whiten(np.concatenate([_advantages(one) for one in several]))
        ends = np.cumsum([len(one.chain.turn_N) for one in several])
        for one, part_N in zip(several, np.split(white_M, ends[:-1]), strict=True):
            one.advantages_N = part_N


# --- back to the batch


def _finished(one: _Learned) -> Episode:
    """The episode with new segments; those given stay as they are."""
    segments: list[Segment] = []
    advantages = spread(one.episode, _advantages(one))
    returns = None if one.returns_N is None else spread(one.episode, one.returns_N)
    value_masks = None if one.value_mask_N is None else spread(one.episode, one.value_mask_N)
    for i, segment in enumerate(one.episode.segments):
        segments.append(
            replace(
                segment,
                advantages=advantages[i],
                returns=None if returns is None else returns[i],
                value_mask=None if value_masks is None else value_masks[i] > 0,
            )
        )
    return replace(one.episode, segments=segments)


def _advantages(one: _Learned) -> Array:
    assert one.advantages_N is not None
    return one.advantages_N


# --- what is logged


def _reward_metrics(learned: Sequence[_Learned]) -> dict[str, float]:
    """Of every episode that came in: groups that are dropped later count here, or the mean would lie."""
    if not learned:
        return {}
    rewards = np.array([one.episode.reward for one in learned])
    metrics = {"reward/mean": rewards.mean(), "reward/std": rewards.std()}
    metrics |= {"reward/min": rewards.min(), "reward/max": rewards.max()}
    k1 = [one.chain.k1_N for one in learned if one.chain.k1_N is not None]
    if len(k1) == len(learned):
        metrics["kl/token"] = np.concatenate(k1).mean()
        metrics["kl/episode"] = np.mean([k1_N.sum() for k1_N in k1])
    return {name: float(value) for name, value in metrics.items()}


def _group_metrics(learned: Sequence[_Learned], reasons: Mapping[int, str]) -> dict[str, float]:
    """How many groups there were, and how many had nothing to say, whether they stay or not."""
    signal: dict[int, bool] = {}
    for one in learned:
        found = one.advantages_N is not None and bool(one.advantages_N.any())
        signal[one.episode.group] = signal.get(one.episode.group, False) or found
    metrics = {f"groups/{r}": float(sum(v == r for v in reasons.values())) for r in ("lone_survivor", "no_baseline")}
    unfit = metrics["groups/lone_survivor"] + metrics["groups/no_baseline"]
    metrics["groups/zero_variance"] = float(sum(not found for found in signal.values())) - unfit
    return metrics | {"groups/count": float(len(signal))}


def _advantage_metrics(learned: Sequence[_Learned]) -> dict[str, float]:
    if not learned:
        return {"tokens/left": 0.0, "episodes/left": 0.0}
    advantages_M = np.concatenate([_advantages(one) for one in learned])
    return {
        "tokens/left": float(len(advantages_M)),
        "episodes/left": float(len(learned)),
        "advantage/mean": float(advantages_M.mean()),
        "advantage/std": float(advantages_M.std()),
        "advantage/max_abs": float(np.abs(advantages_M).max()),
    }


def _value_metrics(learned: Sequence[_Learned]) -> dict[str, float]:
    """How well the critic foretold the returns, and how many cut episodes had no value to go on with."""
    cut = [one.episode for one in learned if one.episode.outcome.truncated]
    unknown = [e for e in cut if bootstraps(e.outcome) and e.truncated_value is None]
    metrics = {
        "episodes/truncated": float(len(cut)),
        "episodes/truncated_without_value": float(len(unknown)),
    }
    pairs = [
        (one.returns_N[where], one.chain.values_N[where])
        for one in learned
        if one.returns_N is not None and one.chain.values_N is not None
        for where in [slice(None) if one.value_mask_N is None else one.value_mask_N > 0]
    ]
    if pairs:
        returns_M, values_M = (np.concatenate(arrays) for arrays in zip(*pairs, strict=True))
        spread_of_returns = returns_M.var()
        metrics |= {"value/mean": float(values_M.mean()), "value/return_mean": float(returns_M.mean())}
        if spread_of_returns > 0:
            metrics["value/explained_variance"] = float(1 - (returns_M - values_M).var() / spread_of_returns)
    return metrics
