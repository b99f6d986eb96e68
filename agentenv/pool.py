"""`EnvPool`: sessions of one env over one or many servers, bounded and fair, for rollouts.

A create that found no server or a full one goes to another server. An episode that has begun stays where it is: when
its server dies, it is lost, and whoever asked for it decides about another attempt. Every session that was acquired is
released, also on errors and on cancellation.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from agentenv.client.connect import remote
from agentenv.client.core import AT_ONCE, Connection, Patience, RemoteSession, task_ref
from agentenv.client.local import LocalTransport
from agentenv.client.url import env_path
from agentenv.errors import AgentEnvError, BadCall, ClientClosed, EnvUnavailable, InfraError, SessionError
from agentenv.protocol import CUT_BY_ROLLOUT, Outcome, TaskRef
from agentenv.registry import EnvSpec, TaskAt, get_spec
from agentenv.server.limits import ServerLimits
from agentenv.server.sessions import Sessions
from agentenv.wire import StepReply, TaskRefBody

RELEASING = Patience(total_s=2.0)
"""For the end of a session whose result nobody reads: where it stays lost, its lease frees the place."""
DOWN_S = 5.0
"""How long a server that could not take a session is asked last."""


@dataclass(slots=True, eq=False)
class Lane:
    """One server of the pool."""

    connection: Connection
    in_use: int = 0
    down_until: float = 0.0
    idle: list[RemoteSession] = field(default_factory=list)
    """Sessions whose episode is over, ready for a reset."""


class EnvPool:
    """Use as `async with EnvPool("textcraft", servers=[...], size=64) as pool`.

    Without servers the env runs in this process, on the running event loop.
    """

    def __init__(
        self,
        env: str,
        *,
        servers: Sequence[str] = (),
        size: int = 16,
        options: Mapping[str, Any] | None = None,
        max_steps: int | None = None,
        token: str | None = None,
        transport: str = "websocket",
        images: bool = False,
        patience: Patience | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if size < 1:
            raise BadCall(f"size is {size}; a pool needs at least 1")
        self.env = env
        self.size = size
        self.options = dict(options or {})
        self.max_steps = max_steps
        self.servers = tuple(servers)
        self.spec: EnvSpec
        """Known once the pool is open."""
        self.card: dict[str, Any] = {}
        """As the first server that answered gave it."""
        self._token = token
        self._transport = transport
        self.images = images
        """Whether its sessions ask for pictures."""
        self._patience = patience or Patience()
        self._clock = clock
        self._lanes: list[Lane] = []
        self._free: asyncio.Semaphore
        self._releasing: set[asyncio.Task[Any]] = set()
        self._open = False

    async def __aenter__(self) -> EnvPool:
        """Connect; ServerUnreachable when no server answers."""
        self._free = asyncio.Semaphore(self.size)
        self._lanes = [Lane(connection) for connection in self._connections()]
        self._open = True
        try:
            self.card = await self._ask(env_path(self.env, options=self._asked))
            if "unavailable" in self.card:
                raise EnvUnavailable(str(self.card["unavailable"]))
            self.spec = self._own_spec() or EnvSpec.from_card(self.card)
        except BaseException:
            await self.close()
            raise
        return self

    async def __aexit__(self, *exc: object) -> None:
        """Close every session and connection."""
        await self.close()

    def _connections(self) -> list[Connection]:
        if self.servers:
            return [
                Connection(remote(url, token=self._token, transport=self._transport), patience=self._patience)
                for url in dict.fromkeys(self.servers)
            ]
        spec = get_spec(self.env)
        spec.resolve_options(self.options)  # a wrong one is a wrong call, not an env that is unavailable
        table = Sessions([spec], find_spec=get_spec, oracle=True, limits=ServerLimits(max_sessions=self.size + 16))
        table.env_options[self.env] = self.options
        return [Connection(LocalTransport(table, owned=True), patience=self._patience)]

    def _own_spec(self) -> EnvSpec | None:
        """This installation's spec, when it is the same as the server's; it has the prompt, which no card carries."""
        with contextlib.suppress(Exception):
            spec = get_spec(self.env)
            return spec if spec.version == self.card.get("version") else None
        return None

    async def task_refs(self, split: str, limit: int | None = None) -> list[TaskRef]:
        """The first `limit` tasks of a split (all without one), as the servers have them."""
        found: list[TaskRef] = []
        while limit is None or len(found) < limit:
            size = 1000 if limit is None else min(1000, limit - len(found))
            page = await self._ask(
                env_path(self.env, "/tasks", options=self._asked, split=split, offset=len(found), limit=size)
            )
            found += [task_ref(body) for body in msgspec.convert(page["tasks"], list[TaskRefBody])]
            if not page["tasks"] or len(found) >= page["total"]:
                break
        return found

    @property
    def _asked(self) -> Mapping[str, Any]:
        """The options as clients ask for them; in this process they are the table's own."""
        return self.options if self.servers else {}

    async def _ask(self, path: str) -> Any:
        """A control-plane GET of the first server that answers."""
        lost: InfraError | None = None
        for lane in self._in_order():
            try:
                return await lane.connection.get_json(path)
            except InfraError as exc:
                lost = exc
                lane.down_until = self._clock() + DOWN_S
        assert lost is not None
        raise lost

    @contextlib.asynccontextmanager
    async def session(self, task: str | TaskAt) -> AsyncIterator[RemoteSession]:
        """A session with an episode of `task` begun; waits for a free place first, in order of arrival.

        Raises EnvFailed when the env breaks in its reset, InfraError when no server takes it.
        """
        self._require_open()
        async with self._free:
            self._require_open()
            lane, session = await self._acquire(task)
            try:
                yield session
            finally:
                await self._away(self._release(lane, session))

    def _require_open(self) -> None:
        if not self._open:
            raise ClientClosed(f"the pool of {self.env} is not open; use `async with EnvPool(...)`")

    async def limit_steps(self, max_steps: int | None) -> None:
        """From now on episodes have this limit; sessions that wait with another one are closed."""
        if max_steps != self.max_steps:
            self.max_steps = max_steps
            for lane in self._lanes:
                idle, lane.idle = lane.idle, []
                await asyncio.gather(*(session.close() for session in idle))

    async def finish(self, session: RemoteSession, outcome: Outcome) -> StepReply | None:
        """Cut a running episode with `outcome`; the final result, or None when the server is lost.

        An outcome that is the session's own to set (`env_error`) closes it as cancelled.
        """
        return await session.close(outcome if outcome in CUT_BY_ROLLOUT else Outcome.CANCELLED)

    async def close(self) -> None:
        """Release everything; idempotent."""
        self._open = False
        while self._releasing:
            await asyncio.wait(self._releasing)
        lanes, self._lanes = self._lanes, []
        for lane in lanes:
            await asyncio.gather(*(session.close(patience=RELEASING) for session in lane.idle))
            await lane.connection.close()

    async def _acquire(self, task: str | TaskAt) -> tuple[Lane, RemoteSession]:
        give_up_at = self._clock() + self._patience.total_s
        attempt = 0
        while True:
            lost: InfraError | None = None
            for lane in self._in_order():
                lane.in_use += 1
                try:
                    return lane, await self._begin(lane, task)
                except InfraError as exc:
                    lost = exc
                    lane.in_use -= 1
                    lane.down_until = self._clock() + DOWN_S
                except BaseException:
                    lane.in_use -= 1
                    raise
            assert lost is not None
            attempt += 1
            pause = min(self._patience.longest_s, self._patience.first_s * 2.0 ** min(attempt, 60))
            if self._clock() + pause > give_up_at:
                raise lost
            await asyncio.sleep(pause)

    def _in_order(self) -> list[Lane]:
        """Servers that took sessions lately first, among them the least used."""
        now = self._clock()
        return sorted(self._lanes, key=lambda lane: (lane.down_until > now, lane.in_use))

    async def _begin(self, lane: Lane, task: str | TaskAt) -> RemoteSession:
        # With other servers to go to, one that does not answer at once is left.
        patience = None if len(self._lanes) == 1 else AT_ONCE
        while lane.idle:
            session = lane.idle.pop()
            try:
                await session.reset(task, patience=patience)
                return session
            except SessionError:
                await session.close()  # its lease or its server ended; make another
            except BaseException:
                await self._away(session.close(patience=RELEASING))
                raise
        creating = asyncio.ensure_future(
            lane.connection.create(
                self.env,
                task,
                options=self._asked,
                max_steps=self.max_steps,
                images=self.images,
                patience=patience,
            )
        )
        try:
            return await asyncio.shield(creating)
        except asyncio.CancelledError:
            self._later(_close_when_made(creating))
            raise

    async def _release(self, lane: Lane, session: RemoteSession) -> None:
        lane.in_use -= 1
        reusable = session.outcome is not None and session.outcome is not Outcome.ENV_ERROR
        if self._open and self.spec.reuse and reusable and not session.closed and session.lost is None:
            lane.idle.append(session)
        else:
            await session.close(patience=RELEASING)

    async def _away(self, work: Coroutine[Any, Any, Any]) -> None:
        """Finish a release even when the caller is cancelled meanwhile."""
        await asyncio.shield(self._later(work))

    def _later(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Begin what `close` waits for."""
        task = asyncio.get_running_loop().create_task(work)
        self._releasing.add(task)
        task.add_done_callback(self._releasing.discard)
        return task


async def _close_when_made(creating: asyncio.Future[RemoteSession]) -> None:
    """Free the session of a create whose caller has gone."""
    with contextlib.suppress(AgentEnvError):
        await (await creating).close(patience=RELEASING)
