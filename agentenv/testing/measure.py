"""What an env costs: steps per second, memory of a session, and the latency of each verb."""

from __future__ import annotations

import gc
import time
import tracemalloc
from collections.abc import Sequence

import psutil

from agentenv.protocol import Action
from agentenv.testing.players import closing
from agentenv.testing.report import Latency, Measured
from agentenv.testing.scripts import Episode, mixed
from agentenv.testing.subject import Subject

STEPS_S = 0.5
"""Seconds of stepping that the rate is taken from."""
VISITS = 100
"""Sessions that the latencies are taken from."""
IDLE = 256
"""Idle sessions whose memory is weighed."""
VERBS = ("create", "reset", "step", "close")


async def measure(subject: Subject) -> Measured:
    """Measure an env that passes enough of its rules to play."""
    async with closing(subject.session()) as session:
        episode = await mixed(session, subject.tasks[0])
    return Measured(
        steps_per_s=round(await _steps_per_s(subject, episode), 1),
        bytes_per_session=await _bytes_per_session(subject) if subject.local else None,
        verbs=await _verbs(subject, episode),
    )


async def _steps_per_s(subject: Subject, episode: Episode) -> float:
    """Steps of one player that replays one episode, resets not counted in the time."""
    actions = [Action(text=text) for text in episode.texts]
    if not actions:
        return 0.0
    steps, spent, until = 0, 0.0, time.perf_counter() + STEPS_S
    async with closing(subject.player()) as player:
        while steps == 0 or time.perf_counter() < until:
            await player.reset(episode.task)
            started = time.perf_counter()
            for action in actions:
                await player.step(action)
            spent += time.perf_counter() - started
            steps += len(actions)
    return steps / spent


async def _bytes_per_session(subject: Subject) -> int:
    """What each created session adds.

    The larger of two: Python's own allocations, which are exact, and the growth of this process and its children,
    which also sees native memory but not what fits into pages that were free before.
    """
    count = subject.affordable(IDLE, 8)
    sessions = [subject.session() for _ in range(count)]
    gc.collect()
    rss = _rss()
    tracemalloc.start()
    try:
        for i, session in enumerate(sessions):
            await session.reset(subject.tasks[i % len(subject.tasks)])
        gc.collect()
        return max(tracemalloc.get_traced_memory()[0], _rss() - rss) // count
    finally:
        tracemalloc.stop()
        for session in sessions:
            await session.close()


def _rss() -> int:
    process = psutil.Process()
    return int(sum(p.memory_info().rss for p in [process, *process.children(recursive=True)]))


async def _verbs(subject: Subject, episode: Episode) -> dict[str, Latency]:
    took: dict[str, list[float]] = {verb: [] for verb in VERBS}
    actions = [Action(text=text) for text in episode.texts]
    for _ in range(subject.affordable(VISITS, 3)):
        session = subject.session()
        clock = time.perf_counter()

        def lap(verb: str) -> None:
            nonlocal clock
            now = time.perf_counter()
            took[verb].append(now - clock)
            clock = now

        await session.reset(episode.task)
        lap("create")
        for action in actions:
            await session.step(action)
            lap("step")
        await session.reset(episode.task)
        lap("reset")
        await session.close()
        lap("close")
    return {verb: latency(times) for verb, times in took.items() if times}


def latency(seconds: Sequence[float]) -> Latency:
    """Percentiles of some durations, which are at least one."""
    ordered = sorted(seconds)

    def at(share: float) -> float:
        return round(1000 * ordered[min(len(ordered) - 1, int(share * len(ordered)))], 4)

    return Latency(n=len(ordered), p50_ms=at(0.5), p99_ms=at(0.99))
