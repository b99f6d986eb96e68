"""Collecting: every member of every group plays its task, each at its own pace, by one version of the weights.

An episode that was lost through no act of the policy is played again: the same task, a fresh session, another attempt
number in its seed. What is still lost after that stays out, and its group goes on with the others.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from agentenv.agents.base import Agent, AgentSpec, Move, Seat
from agentenv.errors import EpisodeCut
from agentenv.protocol import Outcome
from agentenv.rollout import play
from agentenv.trajectory import Trajectory
from trainers.algorithms.rewards import refills
from trainers.config import RolloutSettings
from trainers.rooms import Room
from trainers.tasks import Slot

GREEDY = -1
"""Member number of a group's greedy episode (remax)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """One episode to play."""

    slot: Slot
    member: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """An episode that was played, in its place."""

    place: Place
    attempt: int
    trajectory: Trajectory


@dataclass(slots=True, kw_only=True)
class Collected:
    """A phase's episodes."""

    played: list[Played] = field(default_factory=list)
    """By place: group after group, member after member."""
    lost: list[Played] = field(default_factory=list)
    """Every try that was lost, refilled or not, in the same order."""
    cancelled: int = 0
    """Places that were under way when the phase's time was up."""
    seconds: float = 0.0

    @property
    def tries(self) -> int:
        """Episodes that came to an end, one way or another."""
        return len(self.played) + len(self.lost)

    @property
    def counts(self) -> dict[str, int]:
        """Episodes outside the batch, by reason."""
        counts = Counter(f"lost_{p.trajectory.outcome.value}" for p in self.lost)
        counts["cancelled"] = self.cancelled
        return {name: n for name, n in sorted(counts.items()) if n}


MakeAgent = Callable[[Room, Place, int], AgentSpec]
"""(room, place, attempt) -> the agent of that episode, its sampling seed included."""


async def collect(
    rooms: Sequence[Room],
    places: Sequence[Place],
    make_agent: MakeAgent,
    settings: RolloutSettings,
    *,
    on_episode: Callable[[Played], None] | None = None,
) -> Collected:
    """Play every place; ends when all are played, or at `rollout.phase_timeout_s`. A wrong call ends it at once."""
    started = time.monotonic()
    collected = Collected()
    free = asyncio.Semaphore(settings.concurrency)
    results: dict[int, Played] = {}

    async def one(number: int, place: Place) -> None:
        async with free:
            played = await _play_place(rooms[place.slot.env], place, make_agent, settings, collected.lost)
        if not refills(played.trajectory.outcome):
            results[number] = played
        if on_episode is not None:
            on_episode(played)

    tasks = [asyncio.create_task(one(n, place)) for n, place in enumerate(places)]
    try:
        _, late = await asyncio.wait(tasks, timeout=settings.phase_timeout_s, return_when=asyncio.FIRST_EXCEPTION)
        collected.cancelled = len(late)
    finally:
        for task in tasks:
            task.cancel()
        ended = await asyncio.gather(*tasks, return_exceptions=True)
    for result in ended:
        if isinstance(result, BaseException) and not isinstance(result, asyncio.CancelledError):
            raise result
    collected.played = [results[n] for n in sorted(results)]
    collected.lost.sort(key=lambda p: (p.place.slot.group, p.place.member, p.attempt))
    collected.seconds = time.monotonic() - started
    return collected


async def _play_place(
    room: Room,
    place: Place,
    make_agent: MakeAgent,
    settings: RolloutSettings,
    lost: list[Played],
) -> Played:
    for attempt in range(settings.max_refills + 1):
        agent = timed(make_agent(room, place, attempt), room.settings.step_timeout_s)
        record = await play(room.pool, place.slot.task, agent, attempt=attempt)
        played = Played(place=place, attempt=attempt, trajectory=record)
        if not refills(record.outcome):
            break
        lost.append(played)
    return played


def timed(agent: AgentSpec, limit_s: float | None) -> AgentSpec:
    """The agent with a limit on its own time in an episode; over it the episode ends as time_limit."""
    return agent if limit_s is None else replace(agent, make=lambda: _Timed(agent.make(), limit_s))


class _Timed:
    """Counts the time that an agent takes, the environment's apart."""

    def __init__(self, agent: Agent, limit_s: float) -> None:
        self._agent, self._left = agent, limit_s

    async def start(self, seat: Seat) -> None:
        await self._agent.start(seat)

    async def act(self, observation: str) -> Move:
        before = time.monotonic()
        try:
            async with asyncio.timeout(self._left):
                return await self._agent.act(observation)
        except TimeoutError as exc:
            raise EpisodeCut(Outcome.TIME_LIMIT, "the agent's own time is used up") from exc
        finally:
            self._left -= time.monotonic() - before


class ErrorRate:
    """Share of lost tries over the last steps."""

    def __init__(self, *, most: float, window: int = 5) -> None:
        self.most, self._window = most, window
        self._steps: list[tuple[int, int]] = []

    def note(self, lost: int, tries: int) -> float:
        """Take note of a step; the share over the window."""
        self._steps = [*self._steps, (lost, tries)][-self._window :]
        total = sum(n for _, n in self._steps)
        return sum(n for n, _ in self._steps) / total if total else 0.0

    def over(self, rate: float) -> bool:
        """Whether a run should stop: only after a whole window, or at once when a step lost everything."""
        lost, tries = self._steps[-1] if self._steps else (0, 0)
        return rate > self.most and (len(self._steps) == self._window or lost == tries > 0)

    def state(self) -> list[tuple[int, int]]:
        """What a checkpoint stores."""
        return list(self._steps)

    def restore(self, state: Sequence[Sequence[int]]) -> None:
        """Go on from there."""
        self._steps = [(int(lost), int(tries)) for lost, tries in state]
