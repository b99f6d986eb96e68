"""Steps per second: the same work by each way to an env.

The work is one fixed episode, played again and again: a reset, then its actions in order. Resets take time and are not
counted as steps. With many sessions each plays it, one step after the other (`one_by_one`), or all of them do their
next step in one message (`together`).
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass

from agentenv.client.core import SLACK_S, Connection, RemoteSession
from agentenv.env import AsyncEnv, Env
from agentenv.protocol import Action, Task, TaskRef
from agentenv.testing.players import Player

LONGEST = 100
"""Actions of the fixed episode at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """One episode of known actions."""

    task: Task | TaskRef
    actions: tuple[str, ...]


async def plan_work(player: Player, task: Task | TaskRef) -> Work:
    """An episode of random available actions; of the text `noop` where these have no bound."""
    rng = random.Random(f"work {task.id}")
    actions: list[str] = []
    await player.reset(task)
    while not player.over and len(actions) < LONGEST:
        available = await player.actions()
        actions.append(rng.choice(available) if available else "noop")
        await player.step(Action(text=actions[-1]))
    return Work(task=task, actions=tuple(actions))


def bare(envs: Sequence[Env], work: Work, seconds: float) -> float:
    """Steps per second of bare objects that take turns."""
    actions = [Action(text=text) for text in work.actions]
    assert isinstance(work.task, Task)
    steps, started = 0, time.perf_counter()
    while True:
        for env in envs:
            env.reset(work.task)
        for action in actions:
            for env in envs:
                env.step(action)
            steps += len(envs)
            if (spent := time.perf_counter() - started) > seconds:
                return steps / spent


async def bare_async(envs: Sequence[AsyncEnv], work: Work, seconds: float) -> float:
    """The same for an AsyncEnv; the objects wait side by side."""
    actions = [Action(text=text) for text in work.actions]
    task = work.task
    assert isinstance(task, Task)
    steps, started = 0, time.perf_counter()
    while True:
        await asyncio.gather(*(env.reset(task) for env in envs))
        for action in actions:
            await asyncio.gather(*(env.step(action) for env in envs))
            steps += len(envs)
            if (spent := time.perf_counter() - started) > seconds:
                return steps / spent


async def one_by_one(sessions: Sequence[RemoteSession], work: Work, seconds: float) -> float:
    """Steps per second of sessions that each send their next step when the last one is answered."""
    started = time.perf_counter()
    until = started + seconds

    async def play(session: RemoteSession) -> int:
        steps = 0
        while True:
            await session.reset(work.task.id)
            for text in work.actions:
                await session.step(text)
                steps += 1
                if time.perf_counter() > until:
                    return steps

    steps = sum(await asyncio.gather(*map(play, sessions)))
    return steps / (time.perf_counter() - started)


async def together(connection: Connection, sessions: Sequence[RemoteSession], work: Work, seconds: float) -> float:
    """Steps per second of sessions whose next steps travel in one message."""
    timeout_s = sessions[0].limits.step_s + SLACK_S
    steps, started = 0, time.perf_counter()
    while True:
        replies = await connection.send([s.reset_call(work.task.id) for s in sessions], timeout_s)
        for session, reply in zip(sessions, replies, strict=True):
            session.took_reset(reply)
        for text in work.actions:
            replies = await connection.send([s.step_call(text) for s in sessions], timeout_s)
            for session, reply in zip(sessions, replies, strict=True):
                session.took_step(reply)
            steps += len(sessions)
            if (spent := time.perf_counter() - started) > seconds:
                return steps / spent


async def open_sessions(connection: Connection, env: str, task: str, count: int) -> list[RemoteSession]:
    """`count` sessions, created a few at a time."""
    sessions: list[RemoteSession] = []
    while len(sessions) < count:
        wave = min(32, count - len(sessions))
        sessions += await asyncio.gather(*(connection.create(env, task) for _ in range(wave)))
    return sessions


async def close_sessions(sessions: Sequence[RemoteSession]) -> None:
    """Close them all, a few at a time."""
    for start in range(0, len(sessions), 32):
        await asyncio.gather(*(session.close() for session in sessions[start : start + 32]))
