"""What was collected in a step, in numbers: together, by environment, and where episodes were lost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from agentenv.protocol import Outcome
from agentenv.trajectory import Trajectory
from trainers.algorithms.rounds import turn_limit
from trainers.batch import TokenBatch
from trainers.collect import GREEDY, Collected, Played
from trainers.config import TrainConfig
from trainers.rooms import Room

MANY_TIMED_OUT = 0.05
"""Share of episodes cut by their time from which on a run warns."""


def step_figures(
    collected: Collected, batch: TokenBatch, rooms: Sequence[Room], config: TrainConfig, *, step: int
) -> dict[str, float]:
    """Means over the valid episodes of a step (greedy ones apart), outcomes, losses, limits of turns."""
    valid = [p for p in collected.played if p.trajectory.outcome.valid and p.place.member != GREEDY]
    metrics = _means([p.trajectory for p in valid], [e.reward for e in batch.episodes])
    metrics |= outcomes(collected) | losses(collected, rooms)
    for env, room in enumerate(rooms):
        limit = turn_limit(step, config.algorithm.rounds, room.settings)
        if limit is not None:
            metrics["rounds/limit" if len(rooms) == 1 else f"rounds/limit/{room.name}"] = float(limit)
        if len(rooms) > 1:
            own = [p.trajectory for p in valid if p.place.slot.env == env]
            rewards = [e.reward for e in batch.episodes if e.env == room.name]
            metrics |= {f"{key}/{room.name}": value for key, value in _means(own, rewards).items()}
    return metrics


def outcomes(collected: Collected) -> dict[str, float]:
    """How many episodes ended in which way; greedy ones count, for they take their time too."""
    ends = Counter(p.trajectory.outcome.value for p in (*collected.played, *collected.lost))
    if collected.cancelled:
        ends[Outcome.CANCELLED.value] += collected.cancelled
    return {f"outcome/{name}": float(n) for name, n in sorted(ends.items())}


def losses(collected: Collected, rooms: Sequence[Room]) -> dict[str, float]:
    """Share of tries that were lost, by environment; and by turn, of those that came to that turn."""
    metrics: dict[str, float] = {}
    for env, room in enumerate(rooms):
        tries, lost = _own(collected.played, env) + _own(collected.lost, env), _own(collected.lost, env)
        if tries:
            metrics[f"errors/rate/{room.name}"] = len(lost) / len(tries)
        for turn, number in sorted(Counter(record.steps for record in lost).items()):
            reached = sum(record.steps > turn for record in tries) + number
            metrics[f"errors/turn_{turn}/{room.name}"] = number / reached
    return metrics


def timed_out(collected: Collected) -> float:
    """Share of episodes that their agent's time cut."""
    ends = [p.trajectory.outcome for p in collected.played]
    return sum(end is Outcome.TIME_LIMIT for end in ends) / len(ends) if ends else 0.0


def _own(played: Sequence[Played], env: int) -> list[Trajectory]:
    return [p.trajectory for p in played if p.place.slot.env == env]


def _means(records: Sequence[Trajectory], rewards: Sequence[float]) -> dict[str, float]:
    metrics = {"train/episodes": float(len(records))}
    if records:
        turns = sum(r.steps for r in records)
        metrics |= {
            "train/success": sum(r.success for r in records) / len(records),
            "train/return": sum(r.reward for r in records) / len(records),
            "train/turns": turns / len(records),
            "train/malformed": sum(t.malformed is not None for r in records for t in r.turns) / max(1, turns),
        }
    if rewards:
        metrics["train/reward"] = sum(rewards) / len(rewards)
    return metrics
