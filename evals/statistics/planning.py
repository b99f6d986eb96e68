"""How many tasks tell agents apart: before a run from an assumption, after a comparison from its own spread.

All of it is for a two-sided test at 0.05 with power 0.8, and is an estimate for planning, not a promise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

from agentenv.intervals import z_quantile

POWER = 0.8

A = z_quantile(0.95) + NormalDist().inv_cdf(POWER)
"""1.959964 + 0.841621: standard errors that a difference must be worth."""

DISCORDANCE = 0.3
"""Assumed share of tasks that exactly one of two agents solves, before any pair has played."""

RANKING = 0.15
"""A suite that detects only larger differences than this cannot rank agents."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """How paired differences vary over tasks, as variances of one task's difference."""

    tasks: int
    total: float
    """s_d^2: of the differences as they were measured."""
    within: float | None
    """The part of chance within tasks at the attempts that were made; None where a task has a single attempt."""
    attempts: float
    """Attempts at a task, the mean of both agents."""

    @property
    def between(self) -> float | None:
        """The part that no repeat removes: the agents differ more on some tasks than on others."""
        return None if self.within is None else max(0.0, self.total - self.within)


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """What it takes to see a difference of `delta`."""

    delta: float
    tasks: int | None
    """At the attempts that were made; None for no difference, or where nothing varied yet."""
    attempts: int | None
    """At each of these same tasks; None where that is unknown or cannot be enough."""
    text: str


def effective_tasks(tasks: Sequence[int]) -> float:
    """Tasks that a mean over envs of these sizes is worth: E^2 / sum(1 / T_e); their sum when the sizes are equal."""
    if not tasks or min(tasks) < 1:
        return 0.0
    return len(tasks) ** 2 / sum(1 / count for count in tasks)


def half_width(tasks: float) -> float | None:
    """Half of Wilson's interval at a rate of one half, the widest there is."""
    if tasks <= 0:
        return None
    z2 = z_quantile() ** 2
    return math.sqrt(z2 * (0.25 / tasks + z2 / (4 * tasks**2))) / (1 + z2 / tasks)


def detectable(tasks: float, *, discordance: float = DISCORDANCE) -> float | None:
    """The smallest difference that such a test is likely to see, for an assumed discordance."""
    return A * math.sqrt(discordance / (tasks + A**2)) if tasks > 0 else None


def detectable_from(spread: Spread) -> float | None:
    """The same from a pair's own spread; None where nothing varied."""
    return A * math.sqrt(spread.total / spread.tasks) if spread.total > 0 else None


def tasks_needed(spread: Spread, delta: float) -> int | None:
    """At the attempts that were made; None for delta 0, or where nothing varied yet."""
    if delta == 0 or spread.total <= 0:
        return None
    return math.ceil(A**2 * spread.total / delta**2 - 1e-9)


def need(spread: Spread, delta: float) -> Need:
    """Tasks, or attempts at the same tasks, to see a difference of `delta`, in words too."""
    tasks = tasks_needed(spread, delta)
    attempts, between = None, spread.between
    if tasks is None:
        text = "no difference to plan for" if delta == 0 else "nothing varied, so there is nothing to plan from"
    elif between is None or spread.within is None:
        text = f"about {tasks} tasks (one attempt does not tell what repeats would bring)"
    elif A**2 * between / spread.tasks >= delta**2:
        text = f"no number of repeats on these {spread.tasks} tasks is enough; about {tasks} tasks are"
    else:
        room = delta**2 * spread.tasks / A**2 - between
        attempts = max(1, math.ceil(spread.within * spread.attempts / room - 1e-9))
        text = f"about {tasks} tasks, or about {attempts} attempts at each of these {spread.tasks}"
    return Need(delta=delta, tasks=tasks, attempts=attempts, text=text)


def cannot_rank(tasks: float) -> bool:
    """Whether only such large differences show that an order of agents would mostly be chance."""
    found = detectable(tasks)
    return found is None or found > RANKING
