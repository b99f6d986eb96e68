"""`bench_env` and `bench_url`: steps per second of an env by every way to it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from typing import Any, TypeVar, cast

from agentenv.client.connect import remote
from agentenv.client.core import Connection
from agentenv.client.local import LocalTransport
from agentenv.client.transport import Transport
from agentenv.env import AsyncEnv, Env
from agentenv.errors import BadCall
from agentenv.protocol import Task, TaskRef
from agentenv.registry import EnvSpec
from agentenv.server.limits import ServerLimits
from agentenv.server.sessions import Sessions
from agentenv.testing import machine, rates
from agentenv.testing.players import SessionPlayer, closing

R = TypeVar("R")
LOCAL_WAYS = ("env", "local", "local batch")
"""The bare env, and the session table of this process."""
REMOTE_WAYS = ("http", "http batch", "websocket", "websocket batch")
WAYS = LOCAL_WAYS + REMOTE_WAYS
WARM_UP_S = 0.2
"""Seconds of the same work before each measurement, at most."""

Progress = Callable[[], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One rate."""

    way: str
    sessions: int
    steps_per_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """What was measured, of what, on what."""

    env: str
    target: str
    task: str
    actions: int
    """Steps of the fixed episode."""
    seconds: float
    """Of each measurement."""
    loop: str
    """The event loop of the client."""
    machine: Mapping[str, Any]
    rows: Sequence[Row]

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        return {**asdict(self), "rows": [asdict(row) for row in self.rows]}


def bench_env(
    spec: EnvSpec,
    url: str,
    *,
    options: Mapping[str, Any] | None = None,
    sessions: Sequence[int] = (1, 8, 64, 512),
    seconds: float = 2.0,
    progress: Progress | None = None,
) -> Bench:
    """Measure an env of this process, and by the wire at `url`, where a server of its own serves it."""

    async def work() -> Bench:
        tasks = spec.task_set(options or {})
        task = tasks.get(tasks.splits()[-1], 0)
        table = Sessions(
            [spec],
            limits=ServerLimits(max_sessions=max(sessions) + 8),
            env_options={spec.id: options or {}},
        )
        async with _connected(LocalTransport(table, owned=True)) as local:
            plan = await _plan(spec.id, local.transport, task)
            rows = await _bare_rows(spec, options or {}, plan, sessions, seconds, progress)
            rows += await _rows(spec.id, "local", local, plan, sessions, seconds, progress)
            rows += await _remote_rows(spec.id, url, None, plan, sessions, seconds, progress)
        return _bench(spec.id, "this process", plan, seconds, rows)

    return _run(work)


def bench_url(
    env: str,
    url: str,
    *,
    token: str | None = None,
    sessions: Sequence[int] = (1, 8, 64, 512),
    seconds: float = 2.0,
    progress: Progress | None = None,
) -> Bench:
    """Measure an env of a server by the wire alone."""

    async def work() -> Bench:
        async with _connected(remote(url, token=token)) as connection:
            splits = (await connection.get_json(f"/v1/envs/{env}"))["splits"]
            split = list(splits)[-1]
            page = await connection.get_json(f"/v1/envs/{env}/tasks?split={split}&limit=1")
            plan = await _plan(env, connection.transport, TaskRef(**page["tasks"][0]))
        rows = await _remote_rows(env, url, token, plan, sessions, seconds, progress)
        return _bench(env, url, plan, seconds, rows)

    return _run(work)


async def _plan(env: str, transport: Transport, task: Task | TaskRef) -> rates.Work:
    async with closing(SessionPlayer(env, transport)) as player:
        return await rates.plan_work(player, task)


async def _bare_rows(
    spec: EnvSpec,
    options: Mapping[str, Any],
    work: rates.Work,
    counts: Sequence[int],
    seconds: float,
    progress: Progress | None,
) -> list[Row]:
    rows = []
    for count in counts:
        envs = [spec.make(options) for _ in range(count)]
        for spell in _spells(seconds):
            if isinstance(envs[0], AsyncEnv):
                rate = await rates.bare_async(cast("list[AsyncEnv]", envs), work, spell)
            else:
                rate = await asyncio.to_thread(rates.bare, cast("list[Env]", envs), work, spell)
        for env in envs:
            closed = env.close()
            if closed is not None:
                await closed
        rows.append(Row(way="env", sessions=count, steps_per_s=round(rate, 1)))
        _tell(progress)
    return rows


async def _remote_rows(
    env: str,
    url: str,
    token: str | None,
    work: rates.Work,
    counts: Sequence[int],
    seconds: float,
    progress: Progress | None,
) -> list[Row]:
    rows = []
    for way in ("http", "websocket"):
        async with _connected(remote(url, token=token, transport=way)) as connection:
            rows += await _rows(env, way, connection, work, counts, seconds, progress)
    return rows


async def _rows(
    env: str,
    way: str,
    connection: Connection,
    work: rates.Work,
    counts: Sequence[int],
    seconds: float,
    progress: Progress | None,
) -> list[Row]:
    """One transport, step by step and in batches."""
    single, batch = [], []
    for count in counts:
        sessions = await rates.open_sessions(connection, env, work.task.id, count)
        for spell in _spells(seconds):
            rate = await rates.one_by_one(sessions, work, spell)
        single.append(Row(way=way, sessions=count, steps_per_s=round(rate, 1)))
        _tell(progress)
        for spell in _spells(seconds):
            rate = await rates.together(connection, sessions, work, spell)
        batch.append(Row(way=f"{way} batch", sessions=count, steps_per_s=round(rate, 1)))
        _tell(progress)
        await rates.close_sessions(sessions)
    return single + batch


def _spells(seconds: float) -> tuple[float, float]:
    """A short run to warm up, then the one that counts."""
    return min(WARM_UP_S, seconds / 4), seconds


@asynccontextmanager
async def _connected(transport: Transport) -> AsyncIterator[Connection]:
    connection = Connection(transport)
    try:
        yield connection
    finally:
        await connection.close()


def _bench(env: str, target: str, work: rates.Work, seconds: float, rows: Sequence[Row]) -> Bench:
    return Bench(
        env=env,
        target=target,
        task=work.task.id,
        actions=len(work.actions),
        seconds=seconds,
        loop="uvloop" if _uvloop() else "asyncio",
        machine=machine.describe(),
        rows=rows,
    )


def _tell(progress: Progress | None) -> None:
    if progress is not None:
        progress()


def _run(work: Callable[[], Coroutine[Any, Any, R]]) -> R:
    """Run on uvloop where it is installed, as the server does."""
    with asyncio.Runner(loop_factory=_uvloop()) as runner:
        return runner.run(work())


def _uvloop() -> Callable[[], asyncio.AbstractEventLoop] | None:
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop


def read_counts(text: str) -> tuple[int, ...]:
    """`1,8,64` as numbers of sessions."""
    try:
        counts = tuple(int(part) for part in text.split(","))
    except ValueError:
        raise BadCall(f"--sessions {text!r}: write numbers such as 1,8,64") from None
    if min(counts) < 1:
        raise BadCall(f"--sessions {text!r}: each must be at least 1")
    return counts
