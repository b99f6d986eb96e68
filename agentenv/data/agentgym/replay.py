"""Recorded actions in our worlds: how many come to the recorded reward, and what the others come to."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from agentenv.agents.recorded import recorded
from agentenv.pool import EnvPool
from agentenv.rollout import play
from agentenv.trajectory import Trajectory

CLOSE = 1e-6
"""Rewards that differ by less are equal."""
SESSIONS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """A record and its actions played again."""

    record: Trajectory
    played: Trajectory

    @property
    def reproduced(self) -> bool | None:
        """Whether the reward came out as recorded; None where none is recorded, or the world broke."""
        if self.record.agent.get("recorded_reward") is None or not self.played.outcome.valid:
            return None
        return math.isclose(self.record.reward, self.played.reward, abs_tol=CLOSE)

    def filled(self) -> Trajectory:
        """The record, with rewards and end as played where it did not tell them or they came out alike."""
        record, played = self.record, self.played
        same_length = len(record.turns) == len(played.turns)
        if not played.outcome.valid or not same_length or self.reproduced is False:
            return record
        turns = [replace(turn, reward=p.reward) for turn, p in zip(record.turns, played.turns, strict=True)]
        ended = played.outcome.terminated
        return replace(
            record,
            turns=turns,
            reward=played.reward,
            last_reward=played.last_reward,
            score=played.score,
            success=played.success,
            outcome=played.outcome if ended else record.outcome,
            error=None if ended else record.error,
        )


async def replay(records: Sequence[Trajectory], on_episode: Callable[[], None] = lambda: None) -> list[Replayed]:
    """Play the records' actions again, each environment's under its options; in the order of the records."""
    groups: dict[str, list[int]] = {}
    for place, record in enumerate(records):
        groups.setdefault(json.dumps([record.env, record.env_options], sort_keys=True), []).append(place)
    found: dict[int, Replayed] = {}
    for places in groups.values():
        first = records[places[0]]
        async with EnvPool(first.env, size=SESSIONS, options=first.env_options) as pool:
            gate = asyncio.Semaphore(SESSIONS)

            async def one(place: int, pool: EnvPool = pool, gate: asyncio.Semaphore = gate) -> None:
                async with gate:
                    record = records[place]
                    found[place] = Replayed(record=record, played=await play(pool, record.task, recorded(record)))
                    on_episode()

            await asyncio.gather(*(one(place) for place in places))
    return [found[place] for place in range(len(records))]


def replay_table(replayed: Sequence[Replayed]) -> list[dict[str, Any]]:
    """By environment: how many were played, had a reward, and came to it; and how many succeed."""
    table = []
    for env in sorted({one.record.env for one in replayed}):
        own = [one for one in replayed if one.record.env == env]
        valid = [one for one in own if one.played.outcome.valid]
        judged = [one for one in own if one.reproduced is not None]
        same = sum(bool(one.reproduced) for one in judged)
        table.append(
            {
                "env": env,
                "replayed": len(own),
                "broken": len(own) - len(valid),
                "with_reward": len(judged),
                "reproduced": same,
                "share": same / len(judged) if judged else None,
                "succeeded": sum(one.played.success for one in valid),
            }
        )
    return table
