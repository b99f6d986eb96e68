"""How far the learner's log-probabilities lie from those of the engine that sampled, before any update."""

from __future__ import annotations

import numpy as np

from trainers.batch import TokenBatch, sampled_of


def mismatch(batch: TokenBatch) -> dict[str, float]:
    """Mean and largest |learner - engine| over sampled tokens, of the batch and by turn; empty without tokens.

    Weights are equal, so a gap is a fault of numerics or of a push, and one that grows with the turn is a fault of the
    history.
    """
    parts = [
        (
            np.concatenate([s.turn[s.mask] for s in episode.segments]),
            sampled_of(episode, [s.old_logprobs for s in episode.segments]).astype(np.float64)
            - sampled_of(episode, [s.engine_logprobs for s in episode.segments]),
        )
        for episode in batch.episodes
        if all(s.old_logprobs is not None for s in episode.segments)
    ]
    if not parts:
        return {}
    turns, gaps = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    gaps = np.abs(gaps)
    metrics = {"mismatch/mean": float(gaps.mean()), "mismatch/max": float(gaps.max())}
    for turn in np.unique(turns):
        metrics[f"mismatch/turn_{turn}/mean"] = float(gaps[turns == turn].mean())
        metrics[f"mismatch/turn_{turn}/max"] = float(gaps[turns == turn].max())
    return metrics
