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
    score: float
    """By `evaluation.metric`; the best checkpoint has the highest."""


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
    """Play the held-out set once."""
    collected = await collect(
        rooms, validation_places(rooms), make_agent, config.rollout, held_out=True, on_episode=on_episode
    )
    metrics = figures(rooms, collected)
    return Validation(
        metrics=metrics,
        trajectories=[p.trajectory for p in collected.played],
        score=metrics.get(f"validation/{config.evaluation.metric}", 0.0),
    )


def figures(rooms: Sequence[Room], collected: Collected) -> dict[str, float]:
    """Rates over valid episodes; with several environments also the unweighted mean over them."""
    by_env: dict[str, dict[str, float]] = {}
    for env, room in enumerate(rooms):
        records = [p.trajectory for p in collected.played if p.place.slot.env == env and p.trajectory.outcome.valid]
        if records:
            by_env[room.name] = _of(records)
    found = {f"validation/{env}/{name}": v for env, metrics in by_env.items() for name, v in metrics.items()}
    for name in ("success", "reward", "turns"):
        if by_env:
            found[f"validation/{name}"] = sum(m[name] for m in by_env.values()) / len(by_env)
    if len(by_env) == 1:
        [only] = by_env.values()
        found |= {f"validation/{name}": only[name] for name in ("success_low", "success_high")}
    found["validation/episodes"] = float(sum(m["episodes"] for m in by_env.values()))
    found["validation/invalid"] = float(len(collected.lost) + collected.cancelled)
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
