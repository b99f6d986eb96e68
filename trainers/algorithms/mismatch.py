"""How far the learner's log-probabilities lie from those of the engine that sampled, before any update."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from trainers.batch import Floats, TokenBatch


def mismatch(batch: TokenBatch, logprobs: Sequence[Floats | None]) -> dict[str, float]:
    """Mean and largest |learner - engine| over sampled tokens, of the batch and by turn; empty without tokens.

    `logprobs` are the learner's by the weights that sampled, [T] for each segment; a segment without any is left out.
    Weights are equal, so a gap is a fault of numerics or of a push, and one that grows with the turn is a fault of the
    history.
    """
    parts = [
        (s.turn[s.mask], np.abs(array[s.mask].astype(np.float64) - s.engine_logprobs[s.mask]))
        for s, array in zip(batch.segments, logprobs, strict=True)
        if array is not None and s.sampled
    ]
    if not parts:
        return {}
    turns, gaps = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    metrics = {"mismatch/mean": float(gaps.mean()), "mismatch/max": float(gaps.max())}
    for turn in np.unique(turns):
        metrics[f"mismatch/turn_{turn}/mean"] = float(gaps[turns == turn].mean())
        metrics[f"mismatch/turn_{turn}/max"] = float(gaps[turns == turn].max())
    return metrics
