"""The async core of every client: positions, keys, time-outs, and the only retry loop.

A call that may have been lost is sent again exactly as it was. The position in it (for resets and steps) or its key
(for creates) lets the server give the first reply again instead of acting twice.
"""

from __future__ import annotations

import asyncio
import random
import secrets
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec

from agentenv.client.transport import Transport
from agentenv.errors import (
    AgentEnvError,
    BadCall,
    ClientClosed,
    InfraError,
    ServerUnreachable,
    SessionError,
    SessionGone,
    TransportLost,
    UnknownSession,
)
from agentenv.protocol import Action, Outcome, TaskRef
from agentenv.registry import TaskAt
from agentenv.wire import (
    ActionBody,
    Call,
    CreateBody,
    CreateCall,
    CreateReply,
    DeleteBody,
    DeleteCall,
    GetBody,
    GetCall,
    LimitsBody,
    OracleCall,
    OracleReply,
    Problem,
    Reply,
    ResetBody,
    ResetCall,
    ResetReply,
    StateReply,
    StepBody,
    StepCall,
    StepReply,
    TaskAtBody,
    TaskRefBody,
    clean_text,
)

Body = TypeVar("Body", bound=msgspec.Struct)

CREATE_TIMEOUT_S = 120.0
"""For a create, whose limits are not known yet."""
SLACK_S = 15.0
"""What a reply may take beyond the env's own limit: the way there and back, and the queue."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long a client tries again after a connection broke or a server was full."""

    total_s: float = 30.0
    first_s: float = 0.05
    longest_s: float = 2.0

    def wait_s(self, attempt: int, rng: random.Random) -> float:
        """Pause before try `attempt` (from 1): doubling, with jitter."""
        return float(min(self.longest_s, self.first_s * 2.0 ** min(attempt - 1, 60)) * (0.5 + rng.random()))


AT_ONCE = Patience(total_s=0.0)
"""No second try."""


class Connection:
    """A way to one table of sessions; makes sessions and sends their calls."""

    def __init__(
        self,
        transport: Transport,
        *,
        patience: Patience | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.transport = transport
        self.patience = patience or Patience()
        self._clock = clock
        self._sleep = sleep
        self._rng = random.Random(secrets.randbits(64))  # spreads clients in time; decides nothing else
        self._met = False
        self._closed = False

    async def send(self, calls: Sequence[Call], timeout_s: float, patience: Patience | None = None) -> list[Reply]:
        """The reply of each call, in order. Lost calls and calls that a full server refused are sent again.

        Raises ServerUnreachable or TransportLost when patience ends. A problem is a reply, not an exception.
        """
        if self._closed:
            raise ClientClosed(f"the connection to {self.transport.address} is closed; make a new one")
        if not calls:
            return []
        replies: list[Reply] = []
        again: list[int] | None = None  # places of the calls to send again; None while no reply has come to any
        give_up_at: float | None = None
        attempt = 0
        while True:
            lost: InfraError | None = None
            try:
                got = await self.transport.exchange(calls if again is None else [calls[i] for i in again], timeout_s)
                self._met = True
                if again is None:
                    replies, again = got, [i for i, reply in enumerate(got) if _try_again(reply)]
                else:
                    for place, reply in zip(again, got, strict=True):
                        replies[place] = reply
                    again = [i for i in again if _try_again(replies[i])]
                if not again:
                    return replies
            except (TransportLost, ServerUnreachable) as exc:
                lost = exc
                if isinstance(exc, ServerUnreachable) and not self._met:
                    raise
            patience = patience or self.patience
            now = self._clock()
            if give_up_at is None:
                give_up_at = now + patience.total_s
            attempt += 1
            asked = 0.0 if lost else max(replies[i].retry_after_s or 0.0 for i in again or ())
            pause = max(asked, patience.wait_s(attempt, self._rng))
            if now + pause > give_up_at:
                if lost is not None:
                    raise lost
                return replies
            await self._sleep(pause)

    async def create(
        self,
        env: str,
        task: str | TaskAt,
        *,
        options: Mapping[str, Any] | None = None,
        max_steps: int | None = None,
        images: bool = False,
        patience: Patience | None = None,
    ) -> RemoteSession:
        """A new session with its first episode begun."""
        call = create_call(env, task, options=options, max_steps=max_steps, images=images)
        [reply] = await self.send([call], CREATE_TIMEOUT_S, patience)
        return self.created(env, reply)

    def created(self, env: str, reply: Reply) -> RemoteSession:
        """The session of a create's reply; raises its problem."""
        return RemoteSession(self, env, expect(reply, CreateReply))

    async def get_json(self, path: str) -> Any:
        """A plain GET of the control plane, decoded."""
        if self._closed:
            raise ClientClosed(f"the connection to {self.transport.address} is closed; make a new one")
        data = await self.transport.get_json(path)
        try:
            found = msgspec.json.decode(data)
        except msgspec.MsgspecError as exc:
            raise AgentEnvError(f"{self.transport.address} is no agentenv server: {data[:200]!r}") from exc
        self._met = True
        return found

    async def close(self) -> None:
        """Close the transport; idempotent."""
        if not self._closed:
            self._closed = True
            await self.transport.close()


class RemoteSession:
    """One session as its client sees it. Its calls are made one after the other."""

    def __init__(self, connection: Connection, env: str, reply: CreateReply) -> None:
        self.connection = connection
        self.env = env
        self.id = reply.session
        self.limits: LimitsBody = reply.limits
        self.task: TaskRef = task_ref(reply.task)
        self.max_steps = reply.limits.max_steps
        self.episode = reply.episode
        self.step_number = reply.step
        self.observation = reply.observation
        self.image = reply.image
        self.info = reply.info
        self.outcome: Outcome | None = None
        self.closed = False
        self.oracle_used = False
        self.lost: AgentEnvError | None = None
        """Why the session is of no more use: gone, or out of reach."""

    async def step(self, action: Action | str) -> StepReply:
        """Do one action. Raises EnvFailed, EpisodeOver, SessionGone, or InfraError when the server is lost."""
        call = self.step_call(action)
        [reply] = await self._send(call, self.limits.step_s)
        return self.took_step(reply)

    async def reset(self, task: str | TaskAt, *, patience: Patience | None = None) -> ResetReply:
        """Begin another episode in this session."""
        call = self.reset_call(task)
        [reply] = await self._send(call, self.limits.reset_s, patience)
        return self.took_reset(reply)

    async def get(self, *, actions: bool = False) -> StateReply:
        """The session's state; renews the lease."""
        self._usable()
        [reply] = await self._send(GetCall(session=self.id, body=GetBody(actions=actions)), self.limits.step_s)
        return self._taken(reply, StateReply)

    async def available_actions(self) -> list[str] | None:
        """The actions that make sense now; None where they have no bound."""
        found = (await self.get(actions=True)).available_actions
        return found if isinstance(found, list) else None

    async def oracle(self) -> Action:
        """The scripted solution's next action."""
        self._usable()
        [reply] = await self._send(OracleCall(session=self.id), self.limits.step_s)
        action = Action(text=self._taken(reply, OracleReply).action)
        self.oracle_used = True
        return action

    async def close(self, outcome: Outcome | None = None, *, patience: Patience | None = None) -> StepReply | None:
        """End the session; the final result, or None when it could not be had. Idempotent."""
        if self.closed:
            return None
        self.closed = True
        call = DeleteCall(session=self.id, body=DeleteBody(outcome=None if outcome is None else outcome.value))
        patience = AT_ONCE if self.lost is not None else patience
        try:
            [reply] = await self.connection.send([call], self.limits.step_s + SLACK_S, patience)
            return expect(reply, StepReply)
        except (InfraError, SessionError, ClientClosed):
            return None  # nothing is left to free: the lease ends what cannot be reached

    # A vector client sends the calls of many sessions together; these are its parts.

    def step_call(self, action: Action | str) -> StepCall:
        """The call of a step at the current position."""
        self._usable()
        if not isinstance(action, (str, Action)):
            raise BadCall(f"action {action!r}: give text or an Action, not {type(action).__name__}")
        text, malformed = (action, None) if isinstance(action, str) else (action.text, action.malformed)
        text, malformed = clean_text(str(text)), None if malformed is None else clean_text(malformed)
        if len(text) > self.limits.max_action_bytes:
            malformed = malformed or f"the action is longer than {self.limits.max_action_bytes} bytes"
            text = text[:1000]
        body = StepBody(text if malformed is None else ActionBody(text, malformed), self.episode, self.step_number)
        return StepCall(self.id, body)

    def took_step(self, reply: Reply) -> StepReply:
        """The result in a step's reply; moves the position."""
        body = reply.body
        if type(body) is not StepReply:
            body = self._taken(reply, StepReply)
        self.step_number = body.step
        self.observation = body.observation
        self.image = body.image
        self.info = body.info
        if body.outcome is not None:
            self.outcome = Outcome(body.outcome)
        return body

    def reset_call(self, task: str | TaskAt) -> ResetCall:
        """The call of a reset at the current position."""
        self._usable()
        return ResetCall(session=self.id, body=ResetBody(task=task_body(task), episode=self.episode))

    def took_reset(self, reply: Reply) -> ResetReply:
        """The result in a reset's reply; moves the position."""
        body = self._taken(reply, ResetReply)
        self.task, self.max_steps = task_ref(body.task), body.max_steps
        self.episode, self.step_number, self.outcome = body.episode, body.step, None
        self.observation, self.image, self.info = body.observation, body.image, body.info
        self.oracle_used = False
        return body

    def _usable(self) -> None:
        if self.closed:
            raise ClientClosed(f"the session of {self.env} is closed; create a new one")
        if self.lost is not None:
            raise self.lost

    async def _send(self, call: Call, limit_s: float, patience: Patience | None = None) -> list[Reply]:
        try:
            return await self.connection.send([call], limit_s + SLACK_S, patience)
        except InfraError as exc:
            self.lost = exc
            raise

    def _taken(self, reply: Reply, kind: type[Body]) -> Body:
        """The body; a problem is raised after the position it tells was taken over."""
        try:
            return expect(reply, kind)
        except AgentEnvError as exc:
            if exc.extra.get("outcome") == Outcome.ENV_ERROR and "step" in exc.extra:
                self.outcome = Outcome.ENV_ERROR
                self.episode, self.step_number = exc.extra["episode"], exc.extra["step"]
            if isinstance(exc, (SessionGone, UnknownSession, InfraError)):
                self.lost = exc
            raise


def create_call(
    env: str,
    task: str | TaskAt,
    *,
    options: Mapping[str, Any] | None = None,
    max_steps: int | None = None,
    images: bool = False,
) -> CreateCall:
    """A create with a key of its own."""
    return CreateCall(
        body=CreateBody(
            env=env,
            task=task_body(task),
            options=dict(options or {}),
            max_steps=max_steps,
            images=images,
            key=secrets.token_hex(16),
        )
    )


def expect(reply: Reply, kind: type[Body]) -> Body:
    """The body of a reply as `kind`; a problem is raised as its exception."""
    body = reply.body
    if isinstance(body, kind):
        return body
    if isinstance(body, Problem):
        raise body.error()
    raise AgentEnvError(f"the server answered with {type(body).__name__}, not {kind.__name__}")


def task_body(task: str | TaskAt) -> str | TaskAtBody:
    """A way to name a task as it travels."""
    return task if isinstance(task, str) else TaskAtBody(split=task.split, index=task.index, seed=task.seed)


def task_ref(body: TaskRefBody) -> TaskRef:
    """A task's reference from the wire."""
    return TaskRef(**msgspec.structs.asdict(body))


def _try_again(reply: Reply) -> bool:
    return type(reply.body) is Problem and reply.body.retryable


__all__ = ["AT_ONCE", "Connection", "Patience", "RemoteSession", "create_call", "expect", "task_ref"]
