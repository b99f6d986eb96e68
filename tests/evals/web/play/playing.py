"""A room on a table of sessions, and browsers in this process that come into it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import httpx
import puzzle_env

from agentenv.registry import EnvSpec
from agentenv.server.limits import ServerLimits
from agentenv.server.sessions import Sessions
from evals.store.store import Store
from evals.web.app import make_app
from evals.web.database import ReadOnlyStore
from evals.web.play.room import Room

HOST = "http://127.0.0.1:8000"


@dataclass(slots=True, kw_only=True)
class Clock:
    """Time that a test moves."""

    now: float = 1000.0

    def __call__(self) -> float:
        return self.now


class Browser:
    """One person's cookies."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        self.client = client
        self.game: dict[str, Any] = {}

    async def post(self, path: str, **body: Any) -> dict[str, Any]:
        """The reply of a POST of the page, which must be good."""
        reply = await self.client.post(f"/play/{path}", json=body)
        assert reply.status_code == 200, reply.text
        return self._noted(reply.json())

    async def get(self, path: str) -> dict[str, Any]:
        reply = await self.client.get(f"/play/{path}")
        assert reply.status_code == 200, reply.text
        return self._noted(reply.json())

    def _noted(self, told: dict[str, Any]) -> dict[str, Any]:
        if told.get("game"):
            self.game = told["game"]
        return told

    async def refused(self, path: str, **body: Any) -> tuple[int, str]:
        """Status and code of a POST that is refused."""
        reply = await self.client.post(f"/play/{path}", json=body)
        return reply.status_code, reply.json()["code"]

    async def start(self, task: str = "1", source: str = "split:test", env: str = "puzzle") -> dict[str, Any]:
        await self.post("start", env=env, source=source, task=task)
        return self.game

    async def step(self, action: str, step: int | None = None) -> dict[str, Any]:
        at = self.game["step"] if step is None else step
        await self.post("step", game=self.game["id"], step=at, action=action)
        return self.game


@dataclass(slots=True, kw_only=True)
class House:
    """The room, its store, and a way in."""

    store: Store
    room: Room
    clock: Clock
    new_browser: Callable[[], Browser]

    async def person(self, name: str = "otter") -> Browser:
        browser = self.new_browser()
        await browser.post("enter", name=name)
        return browser


def in_house(
    store: Store,
    act: Callable[[House], Awaitable[None]],
    *,
    spec: EnvSpec = puzzle_env.SPEC,
    token: str | None = None,
    idle_s: float = 1800.0,
) -> None:
    """Open a house on the store's database and let the test act in it."""

    async def run() -> None:
        async with _house(store, spec, token, idle_s) as house:
            await act(house)

    asyncio.run(run())


@contextlib.asynccontextmanager
async def _house(store: Store, spec: EnvSpec, token: str | None, idle_s: float) -> AsyncIterator[House]:
    sessions, clock = Sessions([spec], limits=ServerLimits(max_sessions=8)), Clock()
    room = Room(sessions, token=token, store=lambda: store, clock=clock, idle_s=idle_s)
    reader = ReadOnlyStore.open(store.engine.url)
    app = make_app(reader, room=room)
    async with contextlib.AsyncExitStack() as stack:
        clients = []

        def new_browser() -> Browser:
            client = httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url=HOST)
            clients.append(client)
            return Browser(client)

        stack.callback(reader.close)
        yield House(store=store, room=room, clock=clock, new_browser=new_browser)
        for client in clients:
            await client.aclose()
        await sessions.close()
