"""Two agents on the same tasks: which is better, by how much, where they differ, and what it takes to know more."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, variance
from typing import Protocol

from agentenv.intervals import Interval, bootstrap_groups
from agentenv.paired import bonett_price, mcnemar, sign_flip
from evals.statistics.planning import Need, Spread, detectable_from, need
from evals.statistics.ranking import whole_rates

SUCCESS, MEAN_SCORE = "success", "mean_score"
"""What a suite measures: the rate of success, or the mean of the envs' own raw scores."""

Key = tuple[str, str, str]
"""Env, id and digest: what makes two tasks the same one."""


class TaskCounters(Protocol):
    """One task of a run, as the store keeps it."""

    env: str
    task_id: str
    digest: str
    planned: int
    valid: int
    success: int
    lost: int
    score_sum: float
    scored: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskResult:
    """What one agent made of one task."""

    planned: int
    """Attempts of the plan."""
    valid: int
    success: int
    lost: int = 0
    """Attempts without a valid try after all of them."""
    score: float | None = None
    """Mean raw score, where attempts have one."""

    @property
    def rate(self) -> float:
        """Of its valid attempts, of which there is at least one."""
        return self.success / self.valid

    @property
    def text(self) -> str:
        """`3/4`."""
        return f"{self.success}/{self.valid}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Flip:
    """A task on which the two differ."""

    env: str
    task: str
    a: str
    """`3/4`, or the mean score."""
    b: str
    difference: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Dropped:
    """A task that one side has no valid attempt at."""

    env: str
    task: str
    why: str
    """`invalid in A`, `not played in B`, ..."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A against B. Decide by `p_value`; the interval is for the size of the difference."""

    metric: str
    tasks: int
    """That both have a valid attempt at."""
    attempts_a: int
    attempts_b: int
    a: float | None
    """Mean over these tasks, each env with the same weight."""
    b: float | None
    difference: float | None
    difference_low: float | None
    """If every attempt that is missing, on dropped tasks too, had gone against A; None for scores without a range."""
    difference_high: float | None
    p_value: float | None
    test: str | None
    """`mcnemar` or `sign_flip`."""
    ci_low: float | None
    ci_high: float | None
    ci_method: str | None
    """`bonett_price` or `bootstrap`."""
    detectable: float | None
    """The smallest difference that these tasks are likely to show, by the spread that was measured."""
    needs: list[Need]
    """For the observed difference, and for the one that was asked about."""
    flips: list[Flip]
    """Largest difference first."""
    dropped: list[Dropped]


def results_of(tasks: Iterable[TaskCounters]) -> dict[Key, TaskResult]:
    """By task, in order of play; runs of one agent that are given together are pooled."""
    planned: dict[Key, list[TaskCounters]] = defaultdict(list)
    for task in tasks:
        planned[task.env, task.task_id, task.digest].append(task)
    return {key: _pooled(rows) for key, rows in planned.items()}


def _pooled(rows: Sequence[TaskCounters]) -> TaskResult:
    scored = sum(row.scored for row in rows)
    return TaskResult(
        planned=sum(row.planned for row in rows),
        valid=sum(row.valid for row in rows),
        success=sum(row.success for row in rows),
        lost=sum(row.lost for row in rows),
        score=sum(row.score_sum for row in rows) / scored if scored else None,
    )


def compare_results(
    a: Mapping[Key, TaskResult],
    b: Mapping[Key, TaskResult],
    *,
    seed: int,
    metric: str = SUCCESS,
    delta: float = 0.05,
) -> Comparison:
    """Compare on the tasks that both have in their plans; what only one has is the caller's to refuse."""
    shared = [key for key in a if key in b]
    dropped = [Dropped(env=k[0], task=k[1], why=why) for k in shared if (why := _why_dropped(a[k], b[k], metric))]
    out = {(d.env, d.task) for d in dropped}
    kept = [key for key in shared if key[:2] not in out]
    envs = list(dict.fromkeys(key[0] for key in kept))
    groups = [[key for key in kept if key[0] == env] for env in envs]
    limits = _worst_cases(a, b, shared) if metric == SUCCESS else None
    value_a, value_b = (_mean([[_value(side[k], metric) for k in group] for group in groups]) for side in (a, b))
    difference = None if value_a is None or value_b is None else value_a - value_b
    p_value, test = _test(a, b, groups, metric, seed) if kept else (None, None)
    interval = _interval(a, b, groups, metric, test, seed) if kept else None
    spread = _spread(a, b, groups, metric)
    return Comparison(
        metric=metric,
        tasks=len(kept),
        attempts_a=sum(a[k].valid for k in kept),
        attempts_b=sum(b[k].valid for k in kept),
        a=value_a,
        b=value_b,
        difference=difference,
        difference_low=limits[0] if limits else None,
        difference_high=limits[1] if limits else None,
        p_value=p_value,
        test=test,
        ci_low=interval.low if interval else None,
        ci_high=interval.high if interval else None,
        ci_method=interval.method if interval else None,
        detectable=detectable_from(spread) if spread else None,
        needs=[need(spread, abs(wanted)) for wanted in (difference, delta) if spread and wanted is not None],
        flips=_flips(a, b, kept, metric),
        dropped=dropped,
    )


def _why_dropped(a: TaskResult, b: TaskResult, metric: str) -> str | None:
    reasons = []
    for name, side in (("A", a), ("B", b)):
        if side.valid == 0:
            reasons.append(f"{'invalid' if side.lost else 'not played'} in {name}")
        elif metric == MEAN_SCORE and side.score is None:
            reasons.append(f"unscored in {name}")
    return ", ".join(reasons) or None


def _value(result: TaskResult, metric: str) -> float:
    if metric == SUCCESS:
        return result.rate
    assert result.score is not None  # such tasks are dropped
    return result.score


def _mean(groups: Sequence[Sequence[float]]) -> float | None:
    return fmean(fmean(group) for group in groups) if groups else None


def _differences(
    a: Mapping[Key, TaskResult], b: Mapping[Key, TaskResult], groups: Sequence[Sequence[Key]], metric: str
) -> list[list[float]]:
    return [[_value(a[k], metric) - _value(b[k], metric) for k in group] for group in groups]


def _single(
    a: Mapping[Key, TaskResult], b: Mapping[Key, TaskResult], groups: Sequence[Sequence[Key]], metric: str
) -> bool:
    """Whether McNemar's test applies: one attempt each, and every env with the same number of tasks."""
    once = all(side[k].valid == 1 for group in groups for k in group for side in (a, b))
    return metric == SUCCESS and once and len({len(group) for group in groups}) == 1


def _discordant(
    a: Mapping[Key, TaskResult], b: Mapping[Key, TaskResult], groups: Sequence[Sequence[Key]]
) -> tuple[int, int, int]:
    """Tasks that only A solved, that only B solved, and all."""
    both = [(a[k].success, b[k].success) for group in groups for k in group]
    return sum(x > y for x, y in both), sum(y > x for x, y in both), len(both)


def _test(
    a: Mapping[Key, TaskResult],
    b: Mapping[Key, TaskResult],
    groups: Sequence[Sequence[Key]],
    metric: str,
    seed: int,
) -> tuple[float, str]:
    import numpy as np

    if _single(a, b, groups, metric):
        only_a, only_b, _ = _discordant(a, b, groups)
        return mcnemar(only_a, only_b), "mcnemar"
    if metric == SUCCESS:  # in units of one attempt, where the test is exact
        success, valid = (
            [np.array([[getattr(side[k], name) for k in group] for side in (a, b)]) for group in groups]
            for name in ("success", "valid")
        )
        units = whole_rates(success, valid)
        d = [part[0] - part[1] for part in units]
    else:
        d = [np.array(part) for part in _differences(a, b, groups, metric)]
    whole = int(np.lcm.reduce([len(part) for part in d]))
    weighted = [part * (whole // len(part)) for part in d]  # each env weighs the same
    return sign_flip(np.concatenate(weighted), seed=seed), "sign_flip"


def _interval(
    a: Mapping[Key, TaskResult],
    b: Mapping[Key, TaskResult],
    groups: Sequence[Sequence[Key]],
    metric: str,
    test: str | None,
    seed: int,
) -> Interval | None:
    if test == "mcnemar":
        return bonett_price(*_discordant(a, b, groups))
    return bootstrap_groups(_differences(a, b, groups, metric), seed=seed)


def _worst_cases(
    a: Mapping[Key, TaskResult], b: Mapping[Key, TaskResult], shared: Sequence[Key]
) -> tuple[float, float] | None:
    """The difference if all missing attempts had gone against A, and if they had gone for it."""
    low: dict[str, list[float]] = defaultdict(list)
    high: dict[str, list[float]] = defaultdict(list)
    for key in shared:
        (a_low, a_high), (b_low, b_high) = _limits(a[key]), _limits(b[key])
        low[key[0]].append(a_low - b_high)
        high[key[0]].append(a_high - b_low)
    least, most = _mean(list(low.values())), _mean(list(high.values()))
    return None if least is None or most is None else (least, most)


def _limits(result: TaskResult) -> tuple[float, float]:
    attempts = max(result.planned, result.valid, 1)
    return result.success / attempts, (result.success + attempts - result.valid) / attempts


def _spread(
    a: Mapping[Key, TaskResult], b: Mapping[Key, TaskResult], groups: Sequence[Sequence[Key]], metric: str
) -> Spread | None:
    """None where an env has fewer than two tasks. Variances are those of a mean over envs, times the tasks."""
    if not groups or any(len(group) < 2 for group in groups):
        return None
    tasks = sum(map(len, groups))
    shares = [tasks / (len(groups) ** 2 * len(group)) for group in groups]
    differences = _differences(a, b, groups, metric)
    repeated = metric == SUCCESS and all(side[k].valid > 1 for group in groups for k in group for side in (a, b))
    noise = [fmean(_noise(a[k]) + _noise(b[k]) for k in group) for group in groups] if repeated else None
    return Spread(
        tasks=tasks,
        total=sum(share * variance(part) for share, part in zip(shares, differences, strict=True)),
        within=sum(share * part for share, part in zip(shares, noise, strict=True)) if noise else None,
        attempts=fmean(side[k].valid for group in groups for k in group for side in (a, b)),
    )


def _noise(result: TaskResult) -> float:
    """Variance of the task's rate by chance within the task, from two attempts on."""
    return result.rate * (1 - result.rate) / (result.valid - 1)


def _flips(a: Mapping[Key, TaskResult], b: Mapping[Key, TaskResult], kept: Sequence[Key], metric: str) -> list[Flip]:
    def text(result: TaskResult) -> str:
        return result.text if metric == SUCCESS else f"{_value(result, metric):.3g}"

    found = [
        Flip(env=k[0], task=k[1], a=text(a[k]), b=text(b[k]), difference=_value(a[k], metric) - _value(b[k], metric))
        for k in kept
    ]
    return sorted((flip for flip in found if flip.difference != 0), key=lambda flip: -abs(flip.difference))
