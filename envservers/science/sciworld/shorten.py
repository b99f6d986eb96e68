"""Shorter solutions: the simulator's own pass the time by looking at one thing again and again, hundreds of times."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

LOOKS = ("look at ", "examine ")
"""Each takes one moment and changes nothing else."""
WAIT = 11
"""Moments that `wait` takes."""


def shortened(actions: Sequence[str]) -> tuple[str, ...]:
    """The same actions, but for waits in place of repeated looks: as many moments pass, and the last look stays."""
    return tuple(action for run, equal in groupby(actions) for action in _run(run, len(list(equal))))


def _run(action: str, count: int) -> Iterator[str]:
    waits = (count - 1) // WAIT if action.startswith(LOOKS) else 0
    yield from ["wait"] * waits
    yield from [action] * (count - WAIT * waits)
