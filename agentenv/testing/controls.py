"""How far one gets without playing: an env's shortcut agents over a whole split, against the ceilings of its card."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean
from typing import Any

from agentenv.agents import make_agent
from agentenv.agents.base import AgentSpec
from agentenv.agents.shortcut import shortcut_of
from agentenv.at_once import at_once
from agentenv.intervals import success_interval
from agentenv.pool import EnvPool
from agentenv.protocol import TaskRef
from agentenv.registry import EnvSpec, Shortcut
from agentenv.rollout import play

SEEDS = 3
"""Attempts at every task, each with a seed of its own."""
NOOP = Shortcut(name="noop", entry="", ceiling=0.0, about="sends a text that is no action")


@dataclass(frozen=True, slots=True, kw_only=True)
class Control:
    """What one control reached."""

    name: str
    about: str
    split: str
    tasks: int
    episodes: int
    invalid: int
    success: float
    """Mean over tasks of the task's rate."""
    low: float
    high: float
    ceiling: float
    by_category: Mapping[str, float]
    errors: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether it stays under its ceiling, with every episode valid."""
        return self.invalid == 0 and self.success <= self.ceiling

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        return {**asdict(self), "ok": self.ok}


async def controls(
    spec: EnvSpec,
    *,
    options: Mapping[str, Any] | None = None,
    names: Sequence[str] = (),
    limit: int | None = None,
    seeds: int = SEEDS,
    concurrency: int = 16,
    on_episode: Callable[[], None] = lambda: None,
) -> list[Control]:
    """Play noop and the env's shortcuts (or those in `names`) over their splits, `limit` tasks of each at most."""
    found = []
    async with EnvPool(spec.id, size=concurrency, options=dict(options or {})) as pool:
        for wanted in _wanted(spec, names):
            refs = await pool.task_refs(wanted.split, limit)
            agent = make_agent("noop" if wanted is NOOP else f"shortcut:{wanted.name}")
            found.append(await _control(pool, wanted, agent, refs, seeds, concurrency, on_episode))
    return found


def episodes_of(spec: EnvSpec, options: Mapping[str, Any], names: Sequence[str], limit: int | None, seeds: int) -> int:
    """How many episodes `controls` will play."""
    tasks = spec.task_set(options)
    counts = [tasks.count(wanted.split) for wanted in _wanted(spec, names)]
    return seeds * sum(count if limit is None else min(limit, count) for count in counts)


def _wanted(spec: EnvSpec, names: Sequence[str]) -> list[Shortcut]:
    if not names:
        return [NOOP, *spec.shortcuts]
    return [NOOP if name == NOOP.name else shortcut_of(spec, name) for name in names]


async def _control(
    pool: EnvPool,
    wanted: Shortcut,
    agent: AgentSpec,
    refs: Sequence[TaskRef],
    seeds: int,
    concurrency: int,
    on_episode: Callable[[], None],
) -> Control:
    counts: dict[str, list[int]] = {ref.id: [0, 0] for ref in refs}
    invalid, errors = 0, []

    async def one(place: tuple[TaskRef, int]) -> None:
        nonlocal invalid
        ref, seed = place
        episode = await play(pool, ref, agent, attempt=seed)
        on_episode()
        if episode.outcome.valid:
            counts[ref.id][0] += episode.success
            counts[ref.id][1] += 1
        else:
            invalid += 1
            errors.append(f"{ref.id}: {episode.error}")

    await at_once([(ref, seed) for ref in refs for seed in range(seeds)], one, most=concurrency)
    valid = {task: (c, n) for task, (c, n) in counts.items() if n}
    interval = success_interval(list(valid.values()))
    rates = {task: c / n for task, (c, n) in valid.items()}
    by_category: dict[str, list[float]] = {}
    for ref in refs:
        if ref.id in rates:
            by_category.setdefault(ref.category, []).append(rates[ref.id])
    return Control(
        name=wanted.name,
        about=wanted.about,
        split=wanted.split,
        tasks=len(rates),
        episodes=len(refs) * seeds,
        invalid=invalid,
        success=fmean(rates.values()) if rates else 0.0,
        low=interval.low if interval else 0.0,
        high=interval.high if interval else 1.0,
        ceiling=wanted.ceiling,
        by_category={category: fmean(some) for category, some in sorted(by_category.items())},
        errors=tuple(sorted(errors)[:3]),
    )
