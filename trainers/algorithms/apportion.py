"""How the tasks of a step are shared among environments."""

from __future__ import annotations

from collections.abc import Sequence


def apportion(tasks: int, weights: Sequence[float], carry: Sequence[float]) -> tuple[list[int], list[float]]:
    """Tasks of each environment in one step, by largest remainder; and what each is owed then.

    The remainders go into the next step's `carry` (zeros at the start), so that over the steps every environment gets
    its share, also one that is due less than a task a step. Example: 2 tasks, weights 3 and 1:
    `[2, 0]` with `[-0.5, 0.5]` owed, then `[1, 1]`.
    """
    total = sum(weights)
    if total <= 0 or min(weights) < 0:
        raise ValueError(f"weights {list(weights)}: none may be negative, and one must be positive")
    owed = [tasks * weight / total + left for weight, left in zip(weights, carry, strict=True)]
    counts = [0] * len(owed)
    for _ in range(tasks):
        # One at a time to whom most is owed: the same as largest remainders, and right when somebody owes.
        first = max(range(len(owed)), key=lambda i: owed[i])
        counts[first] += 1
        owed[first] -= 1
    return counts, owed
