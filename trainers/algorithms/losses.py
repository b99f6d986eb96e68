"""Losses on flat tensors of trained tokens, as sums that add up over micro-batches and ranks to one mean.

The denominator belongs to the optimizer step: `Totals` are counted over everything it learns from before the first
backward, `token_weights` makes of them a weight for each token, and then a loss is a weighted sum. The gradient of the
step is the sum of the gradients of its parts, however it was cut.

Legend of dimensions: N trained tokens of a micro-batch, or value positions of one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from trainers.batch import Episode
from trainers.config import KlSettings, LossSettings
from trainers.settings import BadSetting

LOG_RATIO_LIMIT = 10.0
"""Log ratios are clamped to this before exp, and the clamped ones counted."""

WEIGHTED = ("loss/policy", "loss/kl", "loss/entropy", "loss/total", "loss/value")
"""Sums whose total over an optimizer step is a mean already; every other one is divided by its count of tokens."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """What one optimizer step learns from, over all ranks and micro-batches."""

    tokens: int
    """Trained tokens."""
    episodes: int
    """Episodes with a trained token; one whose history was split counts once."""
    values: int
    """Positions where the critic learns."""

    @classmethod
    def of(cls, episodes: Iterable[Episode]) -> Totals:
        """Count them; the episodes of the whole optimizer step, whoever learns from them."""
        trained = [e for e in episodes if e.sampled]
        segments = [s for e in trained for s in e.segments]
        values = sum(int((s.mask if s.value_mask is None else s.value_mask).sum()) for s in segments)
        return cls(tokens=sum(e.sampled for e in trained), episodes=len(trained), values=values)


@dataclass(frozen=True, slots=True, kw_only=True)
class LossPart:
    """The loss of a micro-batch."""

    loss: Tensor
    """Scalar, for backward; the parts of an optimizer step add up to its loss."""
    sums: dict[str, Tensor]
    """Detached scalars that add up over micro-batches and ranks; the same keys on each. `metrics_of` reads them."""


def token_weights(sizes_N: Tensor, totals: Totals, aggregate: str, *, max_episode_tokens: int) -> Tensor:
    """[N] float32 weight of each token in the mean; `sizes_N` has the trained tokens of each token's whole episode.

    token_mean: every token counts alike. episode_mean: every episode does. constant: a token counts the same in every
    step, whatever the lengths.
    """
    if not totals.tokens:
        raise ValueError("an optimizer step without trained tokens has no loss; skip it")
    if aggregate == "token_mean":
        return torch.full(sizes_N.shape, 1 / totals.tokens, device=sizes_N.device)
    if aggregate == "episode_mean":
        return 1 / (sizes_N.float() * totals.episodes)
    return torch.full(sizes_N.shape, 1 / (totals.episodes * max_episode_tokens), device=sizes_N.device)


def actor_loss(
    logp_N: Tensor,
    *,
    old_N: Tensor | None,
    advantage_N: Tensor,
    weight_N: Tensor,
    loss: LossSettings,
    kl: KlSettings,
    kl_coef: float = 0.0,
    engine_N: Tensor | None = None,
    ref_N: Tensor | None = None,
    entropy_N: Tensor | None = None,
    env_N: Tensor | None = None,
    envs: Sequence[str] = (),
) -> LossPart:
    """Policy loss, minus the entropy bonus, plus the KL loss where `kl.placement` says so.

    `logp_N` (and `entropy_N`, where its coefficient is not 0) carry the gradient, the rest is data. `old_N` None: this
    is the only optimizer step of the batch, so the old policy is the present one. `env_N` indexes `envs`, for the
    shares of tokens and of the policy loss by environment.
    """
    term_N, sums = policy_terms(logp_N, old_N=old_N, advantage_N=advantage_N, loss=loss, engine_N=engine_N)
    policy = total = (term_N * weight_N).sum()
    sums |= {"tokens": _sum(torch.ones_like(logp_N)), "loss/policy": _sum(policy), "policy/logprob": _sum(logp_N)}
    if entropy_N is not None:
        entropy = (entropy_N * weight_N).sum()
        if loss.entropy_coef:
            total = total - loss.entropy_coef * entropy
        sums |= {"loss/entropy": _sum(entropy), "policy/entropy": _sum(entropy_N)}
    elif loss.entropy_coef:
        raise ValueError(f"loss.entropy_coef={loss.entropy_coef} needs the entropy of each token")
    if kl.placement == "loss":
        if ref_N is None:
            raise ValueError("kl.placement=loss needs the reference's log-probabilities")
        kl_N, clamped_N = kl_terms(logp_N, ref_N.detach(), kl.estimator)
        distance = (kl_N * weight_N).sum()
        total = total + kl_coef * distance
        sums |= {"loss/kl": _sum(distance), "kl/loss_token": _sum(kl_N), "kl/clamped_fraction": _sum(clamped_N)}
    sums |= _by_env((term_N * weight_N).detach(), env_N, envs)
    return LossPart(loss=total, sums=sums | {"loss/total": _sum(total)})


def policy_terms(
    logp_N: Tensor, *, old_N: Tensor | None, advantage_N: Tensor, loss: LossSettings, engine_N: Tensor | None = None
) -> tuple[Tensor, dict[str, Tensor]]:
    """Each token's clipped policy loss, and the sums that are logged.

    The clip takes the worse of the two objectives; `dual_clip` bounds how bad it gets, for negative advantages alone.
    """
    old_N = logp_N.detach() if old_N is None else old_N.detach()
    advantage_N = advantage_N.detach()
    ratio_N, clamped_N = _ratio(logp_N - old_N)
    clipped_N = ratio_N.clamp(1 - loss.clip_low, 1 + loss.clip_high)
    free_N, bound_N = -advantage_N * ratio_N, -advantage_N * clipped_N
    term_N = torch.maximum(free_N, bound_N)
    sums = {
        "policy/ratio": _sum(ratio_N),
        "policy/approx_kl": _sum(old_N - logp_N),
        "policy/clip_fraction": _sum(bound_N > free_N),
        "policy/clamped_fraction": _sum(clamped_N),
    }
    if loss.dual_clip is not None:
        worst_N = -advantage_N * loss.dual_clip
        over_N = (advantage_N < 0) & (term_N > worst_N)
        term_N = torch.where(over_N, worst_N, term_N)
        sums["policy/dual_clip_fraction"] = _sum(over_N)
    if loss.tis.enabled:
        weight_N = _engine_weight(old_N, engine_N, loss)
        term_N = term_N * weight_N
        sums |= {"policy/tis_weight": _sum(weight_N), "policy/tis_capped_fraction": _sum(weight_N >= loss.tis.cap)}
    return term_N, sums


def kl_terms(logp_N: Tensor, ref_N: Tensor, estimator: str) -> tuple[Tensor, Tensor]:
    """Each token's estimate of KL(policy || reference), and which log ratios were clamped.

    On policy the gradient of k2 is that of the KL; that of k3 is not, though its value is the better estimate:
    `k3_k2grad` has the value of the one and the gradient of the other. A clamped k3 has no gradient; k2 always has.
    """
    if estimator == "k1":
        raise BadSetting(
            "kl.estimator=k1 with kl.placement=loss: its expected gradient is zero; choose k2 or k3_k2grad"
        )
    k2_N = (logp_N - ref_N).square() / 2
    if estimator == "k2":
        return k2_N, torch.zeros_like(logp_N, dtype=torch.bool)
    # k3 averages the reference over the policy: the ratio is reference / policy, not the other way.
    log_ratio_N = (ref_N - logp_N).clamp(-LOG_RATIO_LIMIT, LOG_RATIO_LIMIT)
    clamped_N = (ref_N - logp_N).detach().abs() > LOG_RATIO_LIMIT
    k3_N = log_ratio_N.exp() - log_ratio_N - 1
    if estimator == "k3_k2grad":
        return k3_N.detach() + (k2_N - k2_N.detach()), clamped_N
    return k3_N, clamped_N


def value_loss(value_N: Tensor, *, old_N: Tensor, return_N: Tensor, totals: Totals, clip: float) -> LossPart:
    """Half the mean squared error at value positions, the worse of the new value and of one near the old."""
    if not totals.values:
        raise ValueError("an optimizer step without value positions has no loss; skip it")
    near_N = old_N + (value_N - old_N).clamp(-clip, clip)
    free_N, bound_N = (value_N - return_N).square(), (near_N - return_N).square()
    loss = torch.maximum(free_N, bound_N).sum() / (2 * totals.values)
    sums = {
        "tokens/value": _sum(torch.ones_like(value_N)),
        "loss/value": _sum(loss),
        "value/clip_fraction": _sum(bound_N > free_N),
        "value/predicted": _sum(value_N),
    }
    return LossPart(loss=loss, sums=sums)


def metrics_of(sums: Mapping[str, float], *, optimizer_steps: int = 1) -> dict[str, float]:
    """Means from the added `sums` of one or several optimizer steps (of actor, critic, or both)."""
    metrics: dict[str, float] = {}
    loss_by_env = sum(v for name, v in sums.items() if name.startswith("env_loss/"))
    for name, value in sums.items():
        kind, _, rest = name.partition("/")
        count = sums.get("tokens/value" if kind == "value" else "tokens", 0.0)
        if name in WEIGHTED:
            metrics[name] = value / optimizer_steps
        elif kind == "env_tokens" and count:
            metrics[f"share/{rest}/tokens"] = value / count
        elif kind == "env_loss":
            metrics[f"share/{rest}/policy_loss"] = value / loss_by_env if loss_by_env else 0.0
        elif kind != "tokens" and count:
            metrics[name] = value / count
    return metrics


def _ratio(log_ratio_N: Tensor) -> tuple[Tensor, Tensor]:
    """exp of clamped log ratios, and which were clamped."""
    clamped_N = log_ratio_N.detach().abs() > LOG_RATIO_LIMIT
    return log_ratio_N.clamp(-LOG_RATIO_LIMIT, LOG_RATIO_LIMIT).exp(), clamped_N


def _engine_weight(old_N: Tensor, engine_N: Tensor | None, loss: LossSettings) -> Tensor:
    """Truncated importance weights between the learner's old policy and the engine that sampled."""
    if loss.old_logprobs == "engine":
        raise BadSetting("loss.tis.enabled with loss.old_logprobs=engine: both correct the same gap; choose one")
    if engine_N is None:
        raise ValueError("loss.tis.enabled needs the engine's log-probabilities")
    weight_N, _ = _ratio(old_N - engine_N.detach())
    return weight_N.clamp(max=loss.tis.cap)


def _by_env(term_N: Tensor, env_N: Tensor | None, envs: Sequence[str]) -> dict[str, Tensor]:
    """Tokens, and size of the policy loss regardless of sign, of each environment."""
    if env_N is None:
        return {}
    sums: dict[str, Tensor] = {}
    for i, env in enumerate(envs):
        sums[f"env_tokens/{env}"] = _sum(env_N == i)
        sums[f"env_loss/{env}"] = _sum(term_N[env_N == i].abs())
    return sums


def _sum(tensor_N: Tensor) -> Tensor:
    return tensor_N.detach().double().sum()
