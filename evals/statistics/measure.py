"""From counters of tasks to measures with their uncertainty. What is not known is None, never 0.

The rate is the mean over tasks of each task's own rate, over valid attempts; several envs are averaged with equal
weight. Invalid attempts stand beside it, with what the rate would be if all of them had failed or succeeded.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Protocol

from agentenv.intervals import (
    Counts,
    Interval,
    PassK,
    bootstrap,
    bounds,
    combined,
    combined_error,
    mean_pass_at_k,
    mean_pass_hat_k,
    rerun,
    seed_of,
    standard_error,
    success_interval,
)
from evals.plan import MAX_TRIES

MAX_INVALID = 0.02
"""Share of invalid attempts above which a row is incomplete."""


class Counters(Protocol):
    """The sums of one task, as `tasks` keeps them."""

    planned: int
    valid: int
    success: int
    lost: int
    invalid_tries: int
    reward_sum: float
    steps_sum: int
    success_steps_sum: int
    malformed_sum: int
    score_sum: float
    scored: int
    seconds_sum: float
    success_seconds_sum: float
    tokens_sum: int
    success_tokens_sum: int
    told: int
    cost_sum: float
    priced: int


@dataclass(slots=True)
class Tally:
    """One task with its attempts from every run that is pooled."""

    planned: int = 0
    valid: int = 0
    success: int = 0
    lost: int = 0
    invalid_tries: int = 0
    reward_sum: float = 0.0
    steps_sum: int = 0
    success_steps_sum: int = 0
    malformed_sum: int = 0
    score_sum: float = 0.0
    scored: int = 0
    seconds_sum: float = 0.0
    success_seconds_sum: float = 0.0
    tokens_sum: int = 0
    success_tokens_sum: int = 0
    told: int = 0
    cost_sum: float = 0.0
    priced: int = 0

    @classmethod
    def of(cls, task: Counters) -> Tally:
        """The task of one run."""
        return cls(*_counters(task))

    def with_(self, task: Counters) -> Tally:
        """And the same task of one more run."""
        return Tally(*map(operator.add, _counters(self), _counters(task)))

    @property
    def mean_score(self) -> float:
        """Mean raw score of the attempts that have one; there is at least one."""
        return self.score_sum / self.scored


_counters = operator.attrgetter(*Tally.__slots__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """What an agent did on the tasks of one env, or on average over several."""

    tasks: int
    """In the plan."""
    attempts: int
    """The most that a task was planned for, all pooled runs together."""
    planned: int
    """Attempts of the plan."""
    n: int
    """Valid attempts: the denominator."""
    invalid: int
    """Attempts that stayed invalid after all tries."""
    retried: int
    """Invalid tries that a later try has made good, or may yet."""
    success: float | None
    success_low: float | None
    success_high: float | None
    ci_low: float | None
    ci_high: float | None
    ci_method: str | None
    se: float | None
    """Standard error of `success` over tasks."""
    rerun_low: float | None
    """Interval for these same tasks played again; needs two attempts of each."""
    rerun_high: float | None
    mean_return: float | None
    return_low: float | None
    return_high: float | None
    mean_score: float | None
    """Of the raw scores; None unless every task has an attempt with one."""
    score_low: float | None
    score_high: float | None
    score_method: str | None
    mean_steps: float | None
    success_steps: float | None
    """Mean steps of the successes alone."""
    mean_seconds: float | None
    success_seconds: float | None
    mean_tokens: float | None
    """Read and written in an attempt; None unless all valid attempts say."""
    success_tokens: float | None
    mean_cost: float | None
    """Of an attempt, in the price table's currency; None unless the price of all valid attempts is known."""
    cost_per_success: float | None
    """`mean_cost / success`: what is paid, failures included, until one attempt succeeds."""
    malformed: float | None
    """Share of steps whose completion was no action."""
    done: int
    """Attempts that are settled, valid or lost."""
    wanted: int
    """Attempts that the whole suite asks for; more than `planned` under a limit."""
    partial: bool
    """No run of those pooled has played all of them."""
    invalid_share: float
    """Of the settled attempts; the worst env's."""
    untested: int
    """Tasks whose attempts were all lost."""
    pass_at_k: dict[str, float]
    """By k = 1, 2, 4, ... and the most for which every task has k valid attempts."""
    pass_hat_k: dict[str, float]

    @property
    def problem(self) -> str | None:
        """Why this may not be ranked; None when nothing is wrong."""
        if self.partial:
            return f"partial {self.done}/{self.wanted}"
        if self.untested:
            return f"incomplete: {self.untested} tasks without a valid attempt"
        if self.invalid_share > MAX_INVALID:
            return f"incomplete: {self.invalid_share:.1%} invalid"
        return None


def measure(tallies: Sequence[Tally], *, seed: Sequence[str], suite_tasks: int, whole: bool) -> Measure:
    """The measure of one env.

    `seed` names runs and env, for the bootstrap; `suite_tasks` is what the suite asks for; `whole` says that a run has
    settled all of it.
    """
    played = [t for t in tallies if t.valid > 0]
    counts = [(t.success, t.valid) for t in played]
    limits = bounds([(t.success, t.valid, t.lost) for t in tallies])
    interval, again = success_interval(counts), rerun(counts)
    returns = [t.reward_sum / t.valid for t in played]
    spread = bootstrap(returns, seed=seed_of(*seed, "return"))
    scores = [t.mean_score for t in played if t.scored]
    graded = bool(played) and len(scores) == len(played)
    band = bootstrap(scores, seed=seed_of(*seed, "mean_score")) if graded else None
    successes, steps = sum(t.success for t in played), sum(t.steps_sum for t in played)
    attempts, lost = max((t.planned for t in tallies), default=0), sum(t.lost for t in tallies)
    done = sum(t.valid + t.lost for t in tallies)
    success = fmean(c / n for c, n in counts) if counts else None
    return Measure(
        tasks=len(tallies),
        attempts=attempts,
        planned=sum(t.planned for t in tallies),
        n=sum(t.valid for t in tallies),
        invalid=lost,
        retried=sum(t.invalid_tries for t in tallies) - MAX_TRIES * lost,
        success=success,
        success_low=limits.low if limits else None,
        success_high=limits.high if limits else None,
        ci_low=interval.low if interval else None,
        ci_high=interval.high if interval else None,
        ci_method=interval.method if interval else None,
        se=standard_error([c / n for c, n in counts]),
        rerun_low=again.low if again else None,
        rerun_high=again.high if again else None,
        mean_return=fmean(returns) if returns else None,
        return_low=spread.low if spread else None,
        return_high=spread.high if spread else None,
        mean_score=fmean(scores) if graded else None,
        score_low=band.low if band else None,
        score_high=band.high if band else None,
        score_method=band.method if band else None,
        mean_steps=fmean(t.steps_sum / t.valid for t in played) if played else None,
        success_steps=sum(t.success_steps_sum for t in played) / successes if successes else None,
        **_taken(played, successes, success),
        malformed=sum(t.malformed_sum for t in played) / steps if steps else None,
        done=done,
        wanted=max(suite_tasks, len(tallies)) * attempts,
        partial=not whole,
        invalid_share=lost / done if done else 0.0,
        untested=sum(t.valid == 0 and t.lost > 0 for t in tallies),
        pass_at_k=_published(tallies, mean_pass_at_k),
        pass_hat_k=_published(tallies, mean_pass_hat_k),
    )


def _taken(played: Sequence[Tally], successes: int, success: float | None) -> dict[str, float | None]:
    """Time, tokens and cost of the valid attempts, as means over tasks, and of the successes alone."""
    told = bool(played) and all(t.told == t.valid for t in played)
    priced = bool(played) and all(t.priced == t.valid for t in played)
    cost = fmean(t.cost_sum / t.valid for t in played) if priced else None
    return {
        "mean_seconds": fmean(t.seconds_sum / t.valid for t in played) if played else None,
        "success_seconds": sum(t.success_seconds_sum for t in played) / successes if successes else None,
        "mean_tokens": fmean(t.tokens_sum / t.valid for t in played) if told else None,
        "success_tokens": sum(t.success_tokens_sum for t in played) / successes if told and successes else None,
        "mean_cost": cost,
        "cost_per_success": _per_success(cost, success),
    }


def _per_success(cost: float | None, success: float | None) -> float | None:
    """None where nothing succeeded: then no sum was enough."""
    return cost / success if cost is not None and success else None


def ks(most: int) -> list[int]:
    """1, 2, 4, ... up to `most`, and that."""
    return sorted({most, *(2**i for i in range(most.bit_length()))}) if most > 0 else []


def _published(tallies: Sequence[Tally], mean: Callable[[Counts, int], PassK]) -> dict[str, float]:
    """The values that every task's attempts allow; nothing for a single attempt, where pass@1 is the rate."""
    most = min((t.valid for t in tallies), default=0)
    counts = [(t.success, t.valid) for t in tallies]
    found = {k: mean(counts, k).value for k in ks(most)} if most > 1 else {}
    return {str(k): value for k, value in found.items() if value is not None}


def over_envs(parts: Sequence[Measure]) -> Measure:
    """The unweighted mean over envs; counts add up."""
    interval = combined([(p.success, _interval(p)) for p in parts if p.success is not None])
    known = all(p.success is not None for p in parts)
    band = _band(parts)
    success, cost = _mean(p.success for p in parts), _mean(p.mean_cost for p in parts)
    return Measure(
        tasks=sum(p.tasks for p in parts),
        attempts=max(p.attempts for p in parts),
        planned=sum(p.planned for p in parts),
        n=sum(p.n for p in parts),
        invalid=sum(p.invalid for p in parts),
        retried=sum(p.retried for p in parts),
        success=success,
        success_low=_mean(p.success_low for p in parts),
        success_high=_mean(p.success_high for p in parts),
        ci_low=interval.low if known and interval else None,
        ci_high=interval.high if known and interval else None,
        ci_method=interval.method if known and interval else None,
        se=combined_error([p.se for p in parts]),
        rerun_low=None,
        rerun_high=None,
        mean_return=_mean(p.mean_return for p in parts),
        return_low=None,
        return_high=None,
        mean_score=_mean(p.mean_score for p in parts),
        score_low=band.low if band else None,
        score_high=band.high if band else None,
        score_method=band.method if band else None,
        mean_steps=_mean(p.mean_steps for p in parts),
        success_steps=_mean(p.success_steps for p in parts),
        mean_seconds=_mean(p.mean_seconds for p in parts),
        success_seconds=_mean(p.success_seconds for p in parts),
        mean_tokens=_mean(p.mean_tokens for p in parts),
        success_tokens=_mean(p.success_tokens for p in parts),
        mean_cost=cost,
        cost_per_success=_per_success(cost, success),
        malformed=_mean(p.malformed for p in parts),
        done=sum(p.done for p in parts),
        wanted=sum(p.wanted for p in parts),
        partial=any(p.partial for p in parts),
        invalid_share=max(p.invalid_share for p in parts),
        untested=sum(p.untested for p in parts),
        pass_at_k=_over(parts, "pass_at_k"),
        pass_hat_k=_over(parts, "pass_hat_k"),
    )


def _over(parts: Sequence[Measure], name: str) -> dict[str, float]:
    """The unweighted mean for each k that every env has."""
    tables: list[dict[str, float]] = [getattr(part, name) for part in parts]
    shared = [k for k in tables[0] if all(k in table for table in tables)] if tables else []
    return {k: fmean(table[k] for table in tables) for k in shared}


def _band(parts: Sequence[Measure]) -> Interval | None:
    """Of the mean score over envs; None where one is unknown."""
    known = [
        (p.mean_score, Interval(low=p.score_low, high=p.score_high, method=p.score_method))
        for p in parts
        if p.mean_score is not None and p.score_low is not None and p.score_high is not None and p.score_method
    ]
    return combined(known, least=-math.inf, most=math.inf) if len(known) == len(parts) else None


def _interval(part: Measure) -> Interval | None:
    if part.ci_low is None or part.ci_high is None or part.ci_method is None:
        return None
    return Interval(low=part.ci_low, high=part.ci_high, method=part.ci_method)


def _mean(values: Iterable[float | None]) -> float | None:
    """Unweighted; None where one is unknown."""
    listed = list(values)
    known = [v for v in listed if v is not None]
    return fmean(known) if known and len(known) == len(listed) else None
