"""Two agents on the same tasks: which is better, by how much, where they differ, and what it takes to know more."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, variance
from typing import TYPE_CHECKING, Any, Protocol

from agentenv.intervals import Interval, bootstrap_groups
from agentenv.paired import bonett_price, mcnemar, sign_flip
from evals.statistics.planning import Need, Spread, detectable_from, need
from evals.statistics.ranking import whole_rates

if TYPE_CHECKING:
    from numpy.typing import NDArray

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
    dropped = {key: why for key in shared if (why := _why_dropped(a[key], b[key], metric))}
    envs: dict[str, list[Key]] = defaultdict(list)
    for key in shared:
        if key not in dropped:
            envs[key[0]].append(key)
    pair = _Pair(a=a, b=b, groups=list(envs.values()), metric=metric)
    limits = _worst_cases(a, b, shared) if metric == SUCCESS else None
    value_a, value_b = pair.mean(a), pair.mean(b)
    difference = None if value_a is None or value_b is None else value_a - value_b
    interval = pair.interval(seed)
    spread = pair.spread()
    return Comparison(
        metric=metric,
        tasks=len(pair.keys),
        attempts_a=sum(a[key].valid for key in pair.keys),
        attempts_b=sum(b[key].valid for key in pair.keys),
        a=value_a,
        b=value_b,
        difference=difference,
        difference_low=limits[0] if limits else None,
        difference_high=limits[1] if limits else None,
        p_value=pair.p_value(seed),
        test=None if not pair.keys else "mcnemar" if pair.single else "sign_flip",
        ci_low=interval.low if interval else None,
        ci_high=interval.high if interval else None,
        ci_method=interval.method if interval else None,
        detectable=detectable_from(spread) if spread else None,
        needs=[need(spread, abs(wanted)) for wanted in (difference, delta) if spread and wanted is not None],
        flips=pair.flips(),
        dropped=[Dropped(env=key[0], task=key[1], why=why) for key, why in dropped.items()],
    )


def _why_dropped(a: TaskResult, b: TaskResult, metric: str) -> str | None:
    reasons = []
    for name, side in (("A", a), ("B", b)):
        if side.valid == 0:
            reasons.append(f"{'invalid' if side.lost else 'not played'} in {name}")
        elif metric == MEAN_SCORE and side.score is None:
            reasons.append(f"unscored in {name}")
    return ", ".join(reasons) or None


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


def _mean(groups: Sequence[Sequence[float]]) -> float | None:
    return fmean(fmean(group) for group in groups) if groups else None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pair:
    """Both sides on the tasks that each has a valid attempt at, by env: each env has the same weight."""

    a: Mapping[Key, TaskResult]
    b: Mapping[Key, TaskResult]
    groups: Sequence[Sequence[Key]]
    metric: str

    @property
    def keys(self) -> list[Key]:
        return [key for group in self.groups for key in group]

    @property
    def single(self) -> bool:
        """Whether McNemar's test applies: one attempt each, and every env with the same number of tasks."""
        once = all(side[key].valid == 1 for key in self.keys for side in (self.a, self.b))
        return self.metric == SUCCESS and once and len({len(group) for group in self.groups}) == 1

    def value(self, result: TaskResult) -> float:
        """What is compared; results without a score were dropped."""
        return result.rate if self.metric == SUCCESS or result.score is None else result.score

    def mean(self, side: Mapping[Key, TaskResult]) -> float | None:
        return _mean([[self.value(side[key]) for key in group] for group in self.groups])

    def differences(self) -> list[list[float]]:
        return [[self.value(self.a[key]) - self.value(self.b[key]) for key in group] for group in self.groups]

    def discordant(self) -> tuple[int, int]:
        """Tasks that only A solved, and that only B solved."""
        both = [(self.a[key].success, self.b[key].success) for key in self.keys]
        return sum(x > y for x, y in both), sum(y > x for x, y in both)

    def p_value(self, seed: int) -> float | None:
        import numpy as np

        if not self.keys:
            return None
        if self.single:
            return mcnemar(*self.discordant())
        d = self._in_attempts() if self.metric == SUCCESS else [np.array(part) for part in self.differences()]
        whole = int(np.lcm.reduce([len(part) for part in d]))
        return sign_flip(np.concatenate([part * (whole // len(part)) for part in d]), seed=seed)

    def _in_attempts(self) -> list[NDArray[Any]]:
        """The differences of rates in units of one attempt, where the test is exact."""
        import numpy as np

        success, valid = (
            [
                np.array([[getattr(side[key], name) for key in group] for side in (self.a, self.b)])
                for group in self.groups
            ]
            for name in ("success", "valid")
        )
        return [part[0] - part[1] for part in whole_rates(success, valid)]

    def interval(self, seed: int) -> Interval | None:
        if self.keys and self.single:
            return bonett_price(*self.discordant(), len(self.keys))
        return bootstrap_groups(self.differences(), seed=seed)

    def spread(self) -> Spread | None:
        """None where an env has fewer than two tasks. Variances are those of a mean over envs, times the tasks."""
        if not self.groups or any(len(group) < 2 for group in self.groups):
            return None
        tasks, sides = len(self.keys), (self.a, self.b)
        shares = [tasks / (len(self.groups) ** 2 * len(group)) for group in self.groups]
        repeated = self.metric == SUCCESS and all(side[key].valid > 1 for key in self.keys for side in sides)
        noise = (
            [fmean(_noise(self.a[k]) + _noise(self.b[k]) for k in group) for group in self.groups] if repeated else []
        )
        return Spread(
            tasks=tasks,
            total=sum(share * variance(part) for share, part in zip(shares, self.differences(), strict=True)),
            within=sum(share * part for share, part in zip(shares, noise, strict=True)) if repeated else None,
            attempts=fmean(side[key].valid for key in self.keys for side in sides),
        )

    def flips(self) -> list[Flip]:
        """The tasks that differ, the largest difference first."""

        def text(result: TaskResult) -> str:
            return result.text if self.metric == SUCCESS else f"{self.value(result):.3g}"

        found = [
            Flip(env=key[0], task=key[1], a=text(self.a[key]), b=text(self.b[key]), difference=difference)
            for key, difference in zip(self.keys, (d for part in self.differences() for d in part), strict=True)
            if difference != 0
        ]
        return sorted(found, key=lambda flip: -abs(flip.difference))


def _noise(result: TaskResult) -> float:
    """Variance of the task's rate by chance within the task, from two attempts on."""
    return result.rate * (1 - result.rate) / (result.valid - 1)
