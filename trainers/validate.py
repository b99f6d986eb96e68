"""Validation: the policy of the moment on a fixed held-out set, with fixed seeds and a step limit of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from agentenv.intervals import wilson
from agentenv.trajectory import Trajectory
from trainers.collect import Collected, MakeAgent, Place, Played, collect
from trainers.config import TrainConfig
from trainers.rooms import Room
from trainers.tasks import Slot


@dataclass(frozen=True, slots=True, kw_only=True)
class Validation:
    """What a validation found."""

    metrics: dict[str, float]
    """`validation/success` with `_low` and `_high`, `validation/reward`, and the same by environment."""
    trajectories: list[Trajectory]
    score: float | None
    """By `evaluation.metric`; the best checkpoint has the highest. None: no episode was valid."""


def validation_places(rooms: Sequence[Room]) -> list[Place]:
    """One episode of each held-out task."""
    slots = [(env, task) for env, room in enumerate(rooms) for task in room.validation]
    return [Place(slot=Slot(env=env, task=task, group=n), member=0) for n, (env, task) in enumerate(slots)]


async def validate(
    rooms: Sequence[Room],
    make_agent: MakeAgent,
    config: TrainConfig,
    *,
    on_episode: Callable[[Played], None] | None = None,
) -> Validation:
    """Play the held-out set once, at the limit of steps that is validation's own."""
    for room in rooms:
        await room.pool.limit_steps(config.evaluation.max_steps)
    collected = await collect(rooms, validation_places(rooms), make_agent, config.rollout, on_episode=on_episode)
    metrics = figures(rooms, collected, places=sum(len(room.validation) for room in rooms))
    return Validation(
        metrics=metrics,
        trajectories=[p.trajectory for p in collected.played],
        score=metrics.get(f"validation/{config.evaluation.metric}"),
    )


def figures(rooms: Sequence[Room], collected: Collected, *, places: int) -> dict[str, float]:
    """Rates over valid episodes; with several environments also the unweighted mean over them.

    An environment without a valid episode leaves the mean out: it would compare unlike with unlike.
    """
    by_env: dict[str, dict[str, float]] = {}
    for env, room in enumerate(rooms):
        records = [p.trajectory for p in collected.played if p.place.slot.env == env and p.trajectory.outcome.valid]
        if records:
            by_env[room.name] = _of(records)
    found = {f"validation/{env}/{name}": v for env, metrics in by_env.items() for name, v in metrics.items()}
    for name in ("success", "reward", "turns"):
        if len(by_env) == len(rooms):
            found[f"validation/{name}"] = sum(m[name] for m in by_env.values()) / len(by_env)
    if len(by_env) == len(rooms) == 1:
        [only] = by_env.values()
        found |= {f"validation/{name}": only[name] for name in ("success_low", "success_high")}
    found["validation/episodes"] = float(sum(m["episodes"] for m in by_env.values()))
    found["validation/invalid"] = places - found["validation/episodes"]
    return found


def _of(records: Sequence[Trajectory]) -> dict[str, float]:
    successes = sum(r.success for r in records)
    interval = wilson(successes, len(records))
    assert interval is not None
    return {
        "episodes": float(len(records)),
        "success": successes / len(records),
        "success_low": interval.low,
        "success_high": interval.high,
        "reward": sum(r.reward for r in records) / len(records),
        "turns": sum(r.steps for r in records) / len(records),
    }
