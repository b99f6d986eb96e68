"""The mathematics of learning once more, slowly: dense arrays with masks, sums as the definitions have them, loops.

Nothing here is shared with `trainers.algorithms`: where both agree, the formula is right or both were read wrongly.
A position is one token, sampled (mask 1) or not; `None` stands for "no number here".
"""

import math
from collections.abc import Sequence

Row = Sequence[float]


def _next_sampled(mask: Sequence[int], t: int) -> int | None:
    return next((u for u in range(t + 1, len(mask)) if mask[u]), None)


def gae(
    rewards: Row, values: Row, mask: Sequence[int], *, after: float, gamma: float, lam: float
) -> list[float | None]:
    """A_t = sum over sampled u >= t of (gamma lam)^(sampled tokens between) delta_u."""
    deltas: dict[int, float] = {}
    for t in range(len(mask)):
        if mask[t]:
            u = _next_sampled(mask, t)
            deltas[t] = rewards[t] + gamma * (after if u is None else values[u]) - values[t]
    out: list[float | None] = []
    for t in range(len(mask)):
        if not mask[t]:
            out.append(None)
            continue
        later = [u for u in deltas if u >= t]
        out.append(sum((gamma * lam) ** i * deltas[u] for i, u in enumerate(later)))
    return out


def gae_turns(
    rewards: Row, values: Row, mask: Sequence[int], turn: Sequence[int], *, after: float, gamma: float, lam: float
) -> tuple[list[float | None], list[float | None]]:
    """Advantages at every sampled token, returns at each turn's first one alone."""
    turns = sorted({turn[t] for t in range(len(mask)) if mask[t]})
    first = {k: next(t for t in range(len(mask)) if mask[t] and turn[t] == k) for k in turns}
    reward = {k: sum(rewards[t] for t in range(len(mask)) if mask[t] and turn[t] == k) for k in turns}
    value = {k: values[first[k]] for k in turns} | {len(turns): after}
    delta = {k: reward[k] + gamma * value[k + 1] - value[k] for k in turns}
    gain = {k: sum((gamma * lam) ** (j - k) * delta[j] for j in turns if j >= k) for k in turns}
    advantages = [gain[turn[t]] if mask[t] else None for t in range(len(mask))]
    returns = [gain[turn[t]] + values[t] if t in first.values() else None for t in range(len(mask))]
    return advantages, returns


def token_returns(rewards: Row, mask: Sequence[int], gamma: float) -> list[float | None]:
    """Sum of later rewards, discounted once for each transition between sampled tokens."""
    out: list[float | None] = []
    for t in range(len(mask)):
        if not mask[t]:
            out.append(None)
            continue
        later = [u for u in range(t, len(mask)) if mask[u]]
        out.append(sum(gamma**i * rewards[u] for i, u in enumerate(later)))
    return out


def whitened(rows: Sequence[Sequence[float | None]]) -> list[list[float | None]]:
    numbers = [x for row in rows for x in row if x is not None]
    mean = sum(numbers) / len(numbers)
    std = math.sqrt(sum((x - mean) ** 2 for x in numbers) / (len(numbers) - 1)) if len(numbers) > 1 else 0.0
    return [[None if x is None else (x - mean) / std if std >= 1e-6 else 0.0 for x in row] for row in rows]


def grpo(rewards: Row, *, normalize: bool = True) -> list[float]:
    mean = sum(rewards) / len(rewards)
    std = math.sqrt(sum((r - mean) ** 2 for r in rewards) / (len(rewards) - 1))
    if std < 1e-6:
        return [0.0] * len(rewards)
    return [(r - mean) / (std + 1e-6) if normalize else r - mean for r in rewards]


def rloo(rewards: Row) -> list[float]:
    mean = sum(rewards) / len(rewards)
    if math.sqrt(sum((r - mean) ** 2 for r in rewards) / (len(rewards) - 1)) < 1e-6:
        return [0.0] * len(rewards)
    out = []
    for i, mine in enumerate(rewards):
        others = [r for j, r in enumerate(rewards) if j != i]
        out.append(mine - sum(others) / len(others))
    return out


def policy_loss(
    new: Row,
    old: Row,
    advantage: Row,
    weight: Row,
    *,
    low: float,
    high: float,
    dual: float | None = None,
    engine: Row | None = None,
    cap: float = 2.0,
) -> tuple[float, list[float]]:
    """The loss, and its derivative by each new log-probability."""
    loss, gradient = 0.0, []
    for i in range(len(new)):
        ratio = math.exp(min(max(new[i] - old[i], -10), 10))
        # The objective is what is maximised; the clip never lets it be better than the free one.
        free, bound = ratio * advantage[i], min(max(ratio, 1 - low), 1 + high) * advantage[i]
        objective, slope = (free, free) if free <= bound else (bound, 0.0)
        if dual is not None and advantage[i] < 0 and objective < dual * advantage[i]:
            objective, slope = dual * advantage[i], 0.0
        if abs(new[i] - old[i]) > 10:
            slope = 0.0
        trust = 1.0 if engine is None else min(math.exp(old[i] - engine[i]), cap)
        loss -= weight[i] * trust * objective
        gradient.append(-weight[i] * trust * slope)
    return loss, gradient


def value_loss(new: Row, old: Row, returns: Row, clip: float) -> float:
    total = 0.0
    for v, before, target in zip(new, old, returns, strict=True):
        near = min(max(v, before - clip), before + clip)
        total += 0.5 * max((v - target) ** 2, (near - target) ** 2)
    return total / len(new)


def kl_estimate(policy: float, reference: float, name: str) -> float:
    if name == "k1":
        return policy - reference
    if name == "k2":
        return (policy - reference) ** 2 / 2
    log_ratio = min(max(reference - policy, -10), 10)
    return math.exp(log_ratio) - 1 - log_ratio


def weights(lengths: Sequence[int], aggregate: str, longest: int) -> list[list[float]]:
    """By episode and token: what each token's loss counts in the mean."""
    if aggregate == "token_mean":
        return [[1 / sum(lengths)] * n for n in lengths]
    if aggregate == "episode_mean":
        return [[1 / n / len(lengths)] * n for n in lengths]
    return [[1 / (len(lengths) * longest)] * n for n in lengths]
