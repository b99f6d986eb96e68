"""The table of sessions: every operation of the protocol, whichever door it came through.

`handle_now` answers a step of an inline env without leaving the caller; `handle` answers everything. Neither raises for
what a caller or an env does wrong: the reply carries the problem. An operation belongs to its session: a caller that
goes away never cancels it.
"""

from __future__ import annotations

import asyncio
import difflib
import hashlib
import logging
import secrets
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec

from agentenv.errors import (
    AgentEnvError,
    BadRequest,
    EnvFailed,
    NoCapacity,
    OracleOff,
    RequestMismatch,
    SessionGone,
    UnknownEnv,
    UnknownSession,
    boundary,
)
from agentenv.protocol import Task
from agentenv.registry import EnvSpec, TaskAt, TaskSet, find_task
from agentenv.server.limits import ServerLimits
from agentenv.server.runners import Runners, ThreadRunner, later
from agentenv.server.session import OK, Session, ref_body, task_wanted
from agentenv.wire import (
    Call,
    CreateBody,
    CreateCall,
    CreateReply,
    DeleteCall,
    GetCall,
    OracleCall,
    OracleReply,
    Problem,
    Reply,
    ResetCall,
    StepCall,
    clean_text,
)

log = logging.getLogger("agentenv.server")
T = TypeVar("T")

CREATED = 201
MAX_ENDED = 100_000
"""Ended sessions and keys that are remembered at most, however short ago they ended."""
MAX_ENDED_BYTES = 256 * 1024 * 1024
"""Of what is remembered of ended sessions, as JSON; beyond it the oldest are forgotten early."""


@dataclass(slots=True)
class Ended:
    """What is kept of a session that has ended."""

    reason: str
    at: float
    final: Reply | None
    key: str | None
    """Of its create; the create's reply is kept as long."""
    size: int
    """Bytes of both replies as JSON."""


@dataclass(slots=True)
class Key:
    """What is kept of a create with a key."""

    body: CreateBody
    reply: asyncio.Future[Reply]


class Sessions:
    """The sessions of one process."""

    def __init__(
        self,
        specs: Iterable[EnvSpec] | None = None,
        *,
        limits: ServerLimits | None = None,
        env_options: Mapping[str, Mapping[str, Any]] | None = None,
        oracle: bool = False,
        clock: Callable[[], float] = time.monotonic,
        find_spec: Callable[[str], EnvSpec] | None = None,
    ) -> None:
        self.specs = {spec.id: spec for spec in specs or ()}
        self.limits = limits or ServerLimits()
        self.env_options = {env: dict(options) for env, options in (env_options or {}).items()}
        self.oracle = oracle
        self._find_spec = find_spec
        self._clock = clock
        self._runners = Runners()
        self._sessions: dict[str, Session] = {}
        self._ended: OrderedDict[str, Ended] = OrderedDict()
        self._ended_bytes = 0
        self._keys: dict[str, Key] = {}
        self._forgotten_keys: OrderedDict[str, None] = OrderedDict()
        self._closed = False
        self._creating = 0
        self._stuck = 0
        """Env calls that overran and still hold a thread: they hold their session's slot, too."""
        self._tasks: set[asyncio.Task[Any]] = set()
        self._handlers: dict[type, Callable[[Any], Awaitable[Reply]]] = {
            CreateCall: self._create,
            ResetCall: self._reset,
            StepCall: self._step,
            GetCall: self._get,
            DeleteCall: self._delete,
            OracleCall: self._oracle,
        }

    # The doors.

    def handle_now(self, call: Call) -> Reply | None:
        """The reply of a step of an inline env, or None when the call needs `handle`."""
        if type(call) is not StepCall:
            return None
        session = self._sessions.get(call.session)
        if session is None or session.running or self._clock() - session.idle_since > self.limits.lease_s:
            return None
        try:
            return session.step_now(call.body)
        except AgentEnvError as exc:
            return failure(exc)
        except Exception as exc:
            return internal_error(call, exc)
        finally:
            session.idle_since = self._clock()

    async def handle(self, call: Call) -> Reply:
        """The reply of any call. Cancelling the caller leaves the operation running."""
        reply = self.handle_now(call)
        return reply if reply is not None else await asyncio.shield(self.start(call))

    def start(self, call: Call) -> asyncio.Task[Reply]:
        """Begin an operation that goes on without its caller."""
        session = None if isinstance(call, CreateCall) else self._sessions.get(call.session)
        if session is not None and not self._expired(session):
            session.running += 1  # from now on, not from the task's first turn: no later call overtakes this one
        else:
            session = None
        return self._task(self._reply(call, session))

    def listing(self, offset: int, limit: int) -> tuple[list[Session], int]:
        """A page of the live sessions in order of creation, and how many there are."""
        self.reap()
        return list(self._sessions.values())[offset : offset + limit], len(self._sessions)

    def reap(self) -> int:
        """Close sessions whose lease ran out and forget what was kept long enough; returns how many were closed."""
        expired = [s for s in self._sessions.values() if self._expired(s)]
        for session in expired:
            log.info("session %s of %s expired", hashed(session.id), session.spec.id)
            self._end(session, "expired", None)
            self._task(self._put_away(session))
        self._forget()
        return len(expired)

    async def close(self) -> None:
        """Close every session after the calls under way; an env that hangs for `limits.grace_s` is left behind."""
        self._closed = True
        for session in list(self._sessions.values()):
            self._end(session, "closed", None)
            self._task(self._put_away(session))
        await self._settle(self.limits.grace_s)
        if self._tasks:
            log.warning("%d calls did not end within %g s and are dropped", len(self._tasks), self.limits.grace_s)
            self._runners.abandon()
            await self._settle(0.5)
            for task in self._tasks:
                task.cancel()
            await self._settle(0.5)
        self._runners.close()

    def spec_of(self, env: str) -> EnvSpec:
        """The spec of an env that this table serves."""
        if env in self.specs:
            return self.specs[env]
        if self._find_spec is not None:
            spec = self._find_spec(env)
            self.specs[env] = spec
            return spec
        close = difflib.get_close_matches(env[:64], self.specs, n=1)
        hint = f"; did you mean {close[0]!r}?" if close else ""
        raise UnknownEnv(f"this server has no environment {env!r}; it serves {', '.join(sorted(self.specs))}{hint}")

    def options_of(self, spec: EnvSpec, wanted: Mapping[str, Any]) -> dict[str, Any]:
        """Options of a session: the server's own, then the client's where their scope allows it."""
        own = self.env_options.get(spec.id, {})
        if self._find_spec is not None:  # the table of one's own process: the caller is the server
            return spec.resolve_options({**own, **wanted})
        spec.resolve_options(wanted, scope="session")
        return spec.resolve_options({**own, **wanted})

    # Operations.

    async def _reply(self, call: Call, session: Session | None) -> Reply:
        """Carry out a call. `session`, where there is one, counts it as running: its lease is suspended."""
        try:
            return await self._handlers[type(call)](call)
        except AgentEnvError as exc:
            return failure(exc)
        except Exception as exc:
            return internal_error(call, exc)
        finally:
            if session is not None:
                session.running -= 1
                session.idle_since = self._clock()

    async def _create(self, call: CreateCall) -> Reply:
        key = call.body.key
        if key is None:
            return await self._make(call.body)
        self._forget()
        if key in self._forgotten_keys:
            raise SessionGone("the session of this key ended too long ago", reason="expired")
        kept = self._keys.get(key)
        if kept is not None:
            if kept.body != call.body:
                raise RequestMismatch("the key was used with another body")
            return await asyncio.shield(kept.reply)
        entry = self._keys[key] = Key(call.body, asyncio.get_running_loop().create_future())
        try:
            reply = await self._make(call.body)
        except EnvFailed as exc:  # the same answer to the same request; others changed nothing and may be tried again
            reply = failure(exc)
            self._remember(secrets.token_hex(16), "failed", None, key)  # under the id of a session that never was
        except BaseException as exc:
            del self._keys[key]
            entry.reply.set_result(failure(exc if isinstance(exc, AgentEnvError) else NoCapacity("the create failed")))
            raise
        if isinstance(reply.body, CreateReply):
            self._sessions[reply.body.session].key = key
        entry.reply.set_result(reply)
        return reply

    async def _make(self, body: CreateBody) -> Reply:
        self._refuse_when_closed()
        spec = self.spec_of(body.env)
        if body.max_steps is not None and body.max_steps < 1:
            raise BadRequest(f"max_steps is {body.max_steps}; it must be at least 1")
        options = self.options_of(spec, body.options)
        # The first use of some options may generate thousands of tasks: not on the event loop.
        wanted = task_wanted(body.task)
        tasks, task = await asyncio.wrap_future(self._runners.threads.submit(find_in_set, spec, options, wanted))
        self._refuse_when_closed()
        self.reap()
        taken = len(self._sessions) + self._creating + self._stuck
        if taken >= self.limits.max_sessions:
            raise NoCapacity(f"all {self.limits.max_sessions} sessions are taken; close some or try again")
        session = Session(
            secrets.token_hex(16),
            spec,
            options,
            tasks,
            runners=self._runners,
            limits=self.limits,
            clock=self._clock,
            max_steps=body.max_steps,
            images=body.images,
        )
        self._creating += 1
        try:
            await session.start(task)
            self._refuse_when_closed()
        except BaseException:
            self._count_stuck(session)
            self._task(self._put_away(session))
            raise
        finally:
            self._creating -= 1
        self._sessions[session.id] = session
        session.idle_since = self._clock()
        return Reply(
            CREATED,
            CreateReply(
                session=session.id,
                endpoint=None,
                limits=self.limits.for_session(spec, session.max_steps),
                task=ref_body(task),
                observation=session.observation,
                info=session.info,
                image=session.image,
            ),
        )

    def _refuse_when_closed(self) -> None:
        if self._closed:
            raise NoCapacity("the server is ending")

    async def _reset(self, call: ResetCall) -> Reply:
        return await self._in_turn(call.session, lambda s: s.reset(call.body))

    async def _step(self, call: StepCall) -> Reply:
        return await self._in_turn(call.session, lambda s: s.step_later(call.body))

    async def _get(self, call: GetCall) -> Reply:
        async def state(session: Session) -> Reply:
            return Reply(OK, await session.state(actions=call.body.actions))

        return await self._in_turn(call.session, state)

    async def _oracle(self, call: OracleCall) -> Reply:
        if not self.oracle:
            raise OracleOff("this server offers no oracle; start it with `agentenv serve ENV --oracle`")

        async def ask(session: Session) -> Reply:
            action = await session.oracle()
            text = clean_text(action.text)
            return Reply(OK, OracleReply(action=text, episode=session.episode, step=session.step))

        return await self._in_turn(call.session, ask)

    async def _delete(self, call: DeleteCall) -> Reply:
        async def end(session: Session) -> Reply:
            reply = Reply(OK, await session.end(call.body.outcome))
            self._end(session, "closed", reply)
            return reply

        ended = self._ended.get(call.session)
        if ended is not None and ended.final is not None:
            return ended.final
        try:
            return await self._in_turn(call.session, end)
        except SessionGone:
            ended = self._ended.get(call.session)
            if ended is not None and ended.final is not None:  # another delete was first
                return ended.final
            raise

    async def _in_turn(self, id: str, operation: Callable[[Session], Awaitable[Reply]]) -> Reply:
        """Run an operation after those of the same session that came before it."""
        session = self._live(id)
        async with session.lock:
            self._live(id)  # an operation before this one may have closed it
            try:
                return await operation(session)
            finally:
                self._count_stuck(session)

    # Upkeep.

    def _live(self, id: str) -> Session:
        session = self._sessions.get(id)
        if session is not None and not self._expired(session):
            return session
        if session is not None:
            self.reap()
        ended = self._ended.get(id)
        if ended is not None:
            raise SessionGone(f"the session has ended: {ended.reason}", reason=ended.reason)
        raise UnknownSession(f"no session {id[:64]!r}; create one with POST /v1/sessions")

    def _expired(self, session: Session) -> bool:
        return not session.running and self._clock() - session.idle_since > self.limits.lease_s

    def _end(self, session: Session, reason: str, final: Reply | None) -> None:
        self._sessions.pop(session.id, None)
        self._remember(session.id, reason, final, session.key)

    def _remember(self, session: str, reason: str, final: Reply | None, key: str | None) -> None:
        created = self._keys[key].reply if key in self._keys else None
        kept = [final, created.result() if created is not None and created.done() else None]
        size = sum(len(msgspec.json.encode(reply.body)) for reply in kept if reply is not None)
        self._ended[session] = Ended(reason, self._clock(), final, key, size)
        self._ended_bytes += size
        while len(self._ended) > MAX_ENDED or self._ended_bytes > MAX_ENDED_BYTES:
            self._forget_oldest()

    def _forget(self) -> None:
        """Drop what ended longer than `keep_s` ago."""
        horizon = self._clock() - self.limits.keep_s
        while self._ended and next(iter(self._ended.values())).at < horizon:
            self._forget_oldest()

    def _forget_oldest(self) -> None:
        """Of a key the fact stays: it never makes a second session."""
        _, ended = self._ended.popitem(last=False)
        self._ended_bytes -= ended.size
        if ended.key is not None and self._keys.pop(ended.key, None) is not None:
            self._forgotten_keys[ended.key] = None
        while len(self._forgotten_keys) > MAX_ENDED:
            self._forgotten_keys.popitem(last=False)

    def _count_stuck(self, session: Session) -> None:
        runner = session.runner
        if isinstance(runner, ThreadRunner) and runner.stuck is not None and not runner.stuck_counted:
            runner.stuck_counted = True
            self._stuck += 1
            loop = asyncio.get_running_loop()
            runner.stuck.add_done_callback(lambda _: later(loop, self._unstick))

    def _unstick(self) -> None:
        self._stuck -= 1

    async def _put_away(self, session: Session) -> None:
        """Close the env of a session that has ended, after the call that it may still be in."""
        async with session.lock:
            try:
                await session.runner.close()
            except Exception:
                log.exception("closing session %s of %s", hashed(session.id), session.spec.id)
            self._count_stuck(session)

    def _task(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Do some work that nobody needs to wait for."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _settle(self, seconds: float) -> None:
        """Wait until no operation is under way, or until the time is over."""
        loop = asyncio.get_running_loop()
        until = loop.time() + seconds
        while self._tasks and loop.time() < until:
            await asyncio.wait(self._tasks, timeout=until - loop.time())


def find_in_set(spec: EnvSpec, options: Mapping[str, Any], wanted: str | TaskAt) -> tuple[TaskSet, Task]:
    """The task set of some options, and one of its tasks."""
    with boundary(EnvFailed, f"{spec.id}: the tasks"):
        tasks = spec.task_set(options)
        return tasks, find_task(spec, tasks, wanted)


def failure(error: AgentEnvError) -> Reply:
    """The reply that carries an error."""
    return Reply(error.status, Problem.of(error), 1.0 if error.status in (429, 503) else None)


def internal_error(call: Call, error: Exception) -> Reply:
    """The reply to a call that this server itself failed at."""
    log.error("internal error in %s", type(call).__name__, exc_info=error)
    return failure(AgentEnvError(f"internal error: {type(error).__name__}"))


def hashed(id: str) -> str:
    """A session id as logs show it."""
    return hashlib.sha256(id.encode()).hexdigest()[:8]
