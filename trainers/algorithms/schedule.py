"""The learning rate of a step: a pure function, so that a resumed run goes on where it was."""

from __future__ import annotations

import math

from trainers.config import OptimSettings


def learning_rate(step: int, optim: OptimSettings, *, steps: int) -> float:
    """Of `step`, counted from 1 to `steps`. It is never 0, unless `optim.lr` is: every step learns.

    It rises linearly over the first `warmup_ratio` of the steps, then falls by the schedule and would reach
    `min_lr_ratio` of `lr` one step after the last.
    """
    warmup = max(1, round(optim.warmup_ratio * steps))
    if step < warmup:
        return optim.lr * step / warmup
    done = min((step - warmup) / (steps + 1 - warmup), 1.0)
    floor = optim.min_lr_ratio
    return optim.lr * (floor + (1 - floor) * _left(optim.schedule, done))


def _left(schedule: str, done: float) -> float:
    """From 1 to 0 while `done` goes from 0 to 1."""
    if schedule == "linear":
        return 1 - done
    if schedule == "cosine":
        return (1 + math.cos(math.pi * done)) / 2
    return 1.0
