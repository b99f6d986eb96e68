"""A table of sessions and its calls in short, for tests of the server without a wire."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable
from dataclasses import replace
from typing import Any

import httpx

from agentenv.registry import EnvSpec
from agentenv.server.app import make_app
from agentenv.server.limits import ServerLimits
from agentenv.server.sessions import Sessions
from agentenv.wire import (
    ActionBody,
    CreateBody,
    CreateCall,
    CreateReply,
    DeleteBody,
    DeleteCall,
    GetBody,
    GetCall,
    OracleCall,
    Problem,
    Reply,
    ResetBody,
    ResetCall,
    StepBody,
    StepCall,
)


class Table:
    """Short names for calls; each gives the whole reply."""

    def __init__(self, sessions: Sessions) -> None:
        self.sessions = sessions

    async def create(self, env: str, index: int = 0, **body: Any) -> Reply:
        return await self.sessions.handle(CreateCall(body=CreateBody(env=env, task=f"{env}/train/{index}", **body)))

    async def open(self, env: str, index: int = 0, **body: Any) -> str:
        """The id of a new session."""
        reply = await self.create(env, index, **body)
        assert isinstance(reply.body, CreateReply), reply.body
        return reply.body.session

    async def step(self, session: str, action: str | ActionBody, *position: int) -> Reply:
        return await self.sessions.handle(StepCall(session, StepBody(action, *position)))

    async def reset(self, session: str, task: str, episode: int | None = None) -> Reply:
        return await self.sessions.handle(ResetCall(session, ResetBody(task, episode)))

    async def get(self, session: str, *, actions: bool = False) -> Reply:
        return await self.sessions.handle(GetCall(session, GetBody(actions)))

    async def oracle(self, session: str) -> Reply:
        return await self.sessions.handle(OracleCall(session))

    async def delete(self, session: str, outcome: str | None = None) -> Reply:
        return await self.sessions.handle(DeleteCall(session, DeleteBody(outcome)))


@contextlib.asynccontextmanager
async def table(
    specs: Iterable[EnvSpec], *, limits: ServerLimits | None = None, **settings: Any
) -> AsyncIterator[Table]:
    """A table, closed at the end of the block."""
    sessions = Sessions(specs, limits=limits, **settings)
    try:
        yield Table(sessions)
    finally:
        await sessions.close()


@contextlib.asynccontextmanager
async def door(
    specs: Iterable[EnvSpec],
    *,
    limits: ServerLimits | None = None,
    token: str | None = None,
    hosts: Iterable[str] = ("testserver",),
    **settings: Any,
) -> AsyncIterator[httpx.AsyncClient]:
    """The HTTP door of a table, without a socket."""
    sessions = Sessions(specs, limits=limits, **settings)
    transport = httpx.ASGITransport(app=make_app(sessions, hosts=hosts, token=token))
    try:
        async with httpx.AsyncClient(transport=transport, base_url="http://testserver") as client:
            yield client
    finally:
        await sessions.close()


def problem(reply: Reply) -> Problem:
    """The problem of a reply that must carry one."""
    assert isinstance(reply.body, Problem), reply.body
    return reply.body


def hasty(spec: EnvSpec, step_s: float) -> EnvSpec:
    """A spec whose steps may take `step_s` seconds."""
    return replace(spec, step_s=step_s)


def run(work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Run an async test."""
    asyncio.run(work())


async def until(condition: Callable[[], bool]) -> None:
    """Wait for something that happens elsewhere."""
    while not condition():
        await asyncio.sleep(0.003)
