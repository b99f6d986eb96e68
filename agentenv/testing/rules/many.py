"""Rules about many sessions: apart from each other, and leaving nothing behind."""

from __future__ import annotations

import asyncio
import gc
from dataclasses import dataclass

import psutil

from agentenv.testing.players import SessionPlayer, closing
from agentenv.testing.rules.base import Broken
from agentenv.testing.scripts import Episode, Seen, difference, mixed, replay, step
from agentenv.testing.subject import Subject

AT_ONCE = 64
"""Sessions that play side by side."""
DISTINCT = 8
"""Tasks that they play."""
WAVE = 8
"""Sessions that the endurance rule holds at one time."""
BYTES_PER_SESSION = 16 * 1024
"""Growth of the process that an ended session may leave behind; what the server keeps of it is far below."""
SLACK_BYTES = 4 * 1024 * 1024
SLACK_HANDLES = 4


async def sessions_are_apart(subject: Subject) -> str:
    """Sessions that play side by side answer as if each were alone."""
    alone: list[Episode] = []
    for task in subject.few(subject.affordable(DISTINCT, 2)):
        async with closing(subject.session()) as session:
            asked = await mixed(session, task, longest=12)
        async with closing(subject.session()) as session:
            alone.append(await replay(session, asked))
    count = subject.affordable(AT_ONCE, 2 * len(alone))
    expected = [alone[i % len(alone)] for i in range(count)]
    for episode, seen in zip(expected, await _side_by_side(subject, expected), strict=True):
        if differs := difference(episode.seen, seen):
            raise Broken(f"{episode.task.id} among {count} sessions: {differs}")
    return f"{count} sessions, {len(alone)} tasks"


async def _side_by_side(subject: Subject, episodes: list[Episode]) -> list[list[Seen]]:
    """Every session does its first step, then every one its second, and so on."""
    sessions = [subject.session() for _ in episodes]
    try:
        seen = list(await asyncio.gather(*map(_create, sessions, episodes)))
        for number in range(max(len(e.texts) for e in episodes)):
            await asyncio.gather(
                *(_one(s, e, number, into) for s, e, into in zip(sessions, episodes, seen, strict=True))
            )
        return seen
    finally:
        await asyncio.gather(*(s.close() for s in sessions), return_exceptions=True)


async def _create(session: SessionPlayer, episode: Episode) -> list[Seen]:
    head = Episode(task=episode.task, script=episode.script, seen=episode.seen[:1])
    return list((await replay(session, head)).seen)


async def _one(session: SessionPlayer, episode: Episode, number: int, into: list[Seen]) -> None:
    if number < len(episode.texts) and into[-1].result is not None:
        into.append(await step(session, episode.texts[number]))


@dataclass(frozen=True, slots=True)
class Footprint:
    """What this process and its children hold."""

    rss: int
    threads: int
    files: int
    children: int


async def sessions_leave_nothing(subject: Subject) -> str:
    """Memory, threads, open files and child processes after many sessions are what they were before."""
    count = subject.affordable(subject.sessions, 4 * WAVE)
    await _waves(subject, max(2 * WAVE, count // 10))  # imports, caches and pools fill up
    before = footprint()
    await _waves(subject, count)
    after = footprint()
    growth, allowed = after.rss - before.rss, max(SLACK_BYTES, count * BYTES_PER_SESSION)
    if growth > allowed:
        raise Broken(f"{growth / 2**20:.1f} MB more after {count} sessions ({growth / count / 1024:.1f} KB each)")
    for name in ("threads", "files", "children"):
        more = getattr(after, name) - getattr(before, name)
        if more > SLACK_HANDLES:
            raise Broken(f"{more} more {name} after {count} sessions")
    fewer = f" (not {subject.sessions}: one takes {subject.session_s:.2g} s)" if count < subject.sessions else ""
    return f"{count} sessions{fewer}, {max(growth, 0) / 2**20:.1f} MB more"


async def _waves(subject: Subject, count: int) -> None:
    tasks = subject.few(DISTINCT)
    for start in range(0, count, WAVE):
        await asyncio.gather(*(_visit(subject, (start + i) % len(tasks)) for i in range(min(WAVE, count - start))))


async def _visit(subject: Subject, task: int) -> None:
    async with closing(subject.session()) as session:
        await mixed(session, subject.tasks[task], longest=5)


def footprint() -> Footprint:
    """Now, after a garbage collection."""
    gc.collect()
    process = psutil.Process()
    children = process.children(recursive=True)
    rss = process.memory_info().rss + sum(_rss(c) for c in children)
    files = process.num_fds() if hasattr(process, "num_fds") else 0
    return Footprint(rss, process.num_threads(), files, len(children))


def _rss(process: psutil.Process) -> int:
    try:
        return int(process.memory_info().rss)
    except psutil.Error:
        return 0
