"""Two ways to move an env by the same calls: as a bare object, and as a session behind a transport.

A rule that is written against `Player` holds for both. A player keeps what a session would keep on a bare object
(`steps`, `last`, the step limit) and adds nothing else: a bare env's own exceptions come through unchanged.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

import msgspec

from agentenv.env import AsyncEnv, Env
from agentenv.errors import InfraError, ResetNeeded
from agentenv.protocol import Action, StepResult, Task, TaskRef
from agentenv.registry import Concurrency, EnvSpec
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
    OracleCall,
    OracleReply,
    Problem,
    ResetBody,
    ResetCall,
    ResetReply,
    StateReply,
    StepBody,
    StepCall,
    StepReply,
)

if TYPE_CHECKING:
    from agentenv.client.transport import Transport  # its package imports gymnasium, which no child needs

log = logging.getLogger("agentenv.testing")

CALL_TIMEOUT_S = 120.0


class Player(Protocol):
    """Plays episodes, one after another."""

    over: bool
    """The episode has ended, by itself or at its step limit."""

    async def reset(self, task: Task | TaskRef) -> StepResult:
        """Start an episode."""

    async def step(self, action: Action) -> StepResult:
        """Do one action."""

    async def actions(self) -> list[str] | None:
        """The available actions."""

    async def oracle(self) -> Action | None:
        """The next action of `solve()`; None when it ends before the episode does."""

    async def close(self) -> None:
        """Close the env or its session."""


P = TypeVar("P", bound=Player)


class ObjectPlayer:
    """Plays a bare `Env` or `AsyncEnv`. Results are not checked. `thread` runs the calls of a sync env."""

    def __init__(
        self, spec: EnvSpec, make: Callable[[], Env | AsyncEnv], thread: ThreadPoolExecutor | None = None
    ) -> None:
        self.spec = spec
        self.env: Env | AsyncEnv | None = None
        self.task: Task | None = None
        self.over = False
        self._make = make
        self._thread = thread
        self._solution: Generator[Action, StepResult, None] | AsyncGenerator[Action, StepResult] | None = None

    async def make(self) -> Env | AsyncEnv:
        """The env object, made on first use."""
        if self.env is None:
            self.env = cast(Env | AsyncEnv, await self.call(self._make))
        return self.env

    async def call(self, method: Callable[..., Any], *arguments: Any) -> Any:
        """`method(*arguments)`: awaited where it is a coroutine, in the thread where there is one."""
        if inspect.iscoroutinefunction(method):
            return await method(*arguments)
        if self._thread is None:
            return method(*arguments)
        return await asyncio.get_running_loop().run_in_executor(self._thread, method, *arguments)

    async def reset(self, task: Task | TaskRef) -> StepResult:
        """See Player."""
        await self._drop_solution()
        if self.env is not None and not self.spec.reuse:
            await self.close()
        env = await self.make()
        self.task, self.over = cast(Task, task), False
        env.steps, env.last = 0, StepResult(observation="")
        env.last = await self.call(env.reset, self.task)
        return env.last

    async def step(self, action: Action) -> StepResult:
        """See Player."""
        env = await self.make()
        result: StepResult = await self.call(env.step, action)
        env.steps += 1
        env.last = result
        self.over = bool(result.terminated) or env.steps >= step_limit(self.spec, self.task)
        return result

    async def actions(self) -> list[str] | None:
        """See Player."""
        env = await self.make()
        found: list[str] | None = await self.call(env.available_actions)
        return found

    async def oracle(self) -> Action | None:
        """See Player."""
        env = await self.make()
        first = self._solution is None
        if self._solution is None:
            self._solution = env.solve(cast(Task, self.task))
        solution = self._solution
        if isinstance(solution, AsyncGenerator):
            try:
                return await (anext(solution) if first else solution.asend(env.last))
            except StopAsyncIteration:
                return None
        return cast("Action | None", await self.call(_advance, solution, None if first else env.last))

    async def snapshot(self) -> object:
        """The env's snapshot."""
        env = await self.make()
        return await self.call(env.snapshot)

    async def restore(self, snapshot: object, like: ObjectPlayer) -> None:
        """Restore a fresh env, with what a session keeps taken from `like`."""
        env, other = await self.make(), await like.make()
        self.task, self.over = like.task, like.over
        env.steps, env.last = other.steps, other.last
        await self.call(env.restore, snapshot)

    async def close(self) -> None:
        """See Player."""
        await self._drop_solution()
        env, self.env = self.env, None
        if env is not None:
            await self.call(env.close)

    async def _drop_solution(self) -> None:
        solution, self._solution = self._solution, None
        if isinstance(solution, AsyncGenerator):
            await solution.aclose()
        elif solution is not None:
            await self.call(solution.close)


class SessionPlayer:
    """Plays a session behind a transport: the first reset creates it. Problems are raised as their errors."""

    def __init__(
        self,
        env: str,
        transport: Transport,
        options: dict[str, Any] | None = None,
        *,
        max_steps: int | None = None,
    ) -> None:
        self.over = False
        self.session: str | None = None
        self.episode = 0
        self.at = 0
        self._env = env
        self._transport = transport
        self._options = options or {}
        self._max_steps = max_steps

    async def reset(self, task: Task | TaskRef) -> StepResult:
        """See Player."""
        self.over = False
        if self.session is None:
            body = CreateBody(env=self._env, task=task.id, options=self._options, max_steps=self._max_steps)
            made = cast(CreateReply, await self._ask(CreateCall(body)))
            self.session = made.session
            return StepResult(observation=made.observation, info=made.info, image=made.image)
        call = ResetCall(self.session, ResetBody(task=task.id, episode=self.episode))
        done = cast(ResetReply, await self._ask(call))
        self.episode, self.at = done.episode, 0
        return StepResult(observation=done.observation, info=done.info, image=done.image)

    async def step(self, action: Action) -> StepResult:
        """See Player."""
        text = action.text if action.malformed is None else ActionBody(action.text, action.malformed)
        reply = await self.step_reply(StepBody(text, self.episode, self.at))
        return StepResult(
            observation=reply.observation,
            image=reply.image,
            reward=reply.reward,
            terminated=reply.terminated,
            success=reply.success,
            score=reply.score,
            info=reply.info,
        )

    async def step_reply(self, body: StepBody) -> StepReply:
        """The whole reply of one step."""
        reply = cast(StepReply, await self._ask(StepCall(self._id(), body)))
        self.at, self.over = reply.step, reply.outcome is not None
        return reply

    async def actions(self) -> list[str] | None:
        """See Player."""
        state = cast(StateReply, await self._ask(GetCall(self._id(), GetBody(actions=True))))
        found = state.available_actions
        return None if isinstance(found, msgspec.UnsetType) else found

    async def oracle(self) -> Action | None:
        """See Player."""
        return Action(text=cast(OracleReply, await self._ask(OracleCall(self._id()))).action)

    async def delete(self) -> StepReply:
        """Close the session and return its final result; may be called again."""
        return cast(StepReply, await self._ask(DeleteCall(self._id(), DeleteBody())))

    async def close(self) -> None:
        """See Player."""
        if self.session is not None:
            await self.delete()
            self.session, self.episode, self.at = None, 0, 0

    def _id(self) -> str:
        if self.session is None:
            raise ResetNeeded("no session yet; reset first")
        return self.session

    async def _ask(self, call: Call) -> Any:
        [reply] = await self._transport.exchange([call], CALL_TIMEOUT_S)
        if isinstance(reply.body, Problem):
            raise reply.body.error()
        return reply.body


def step_limit(spec: EnvSpec, task: Task | TaskRef | None) -> int:
    """The step limit of a task: the card's, or the task's own smaller one."""
    own = getattr(task, "max_steps", None)
    return spec.max_steps if own is None else min(own, spec.max_steps)


def _advance(solution: Generator[Action, StepResult, None], result: StepResult | None) -> Action | None:
    """The generator's next action. StopIteration cannot cross a future, so the end is None."""
    try:
        return next(solution) if result is None else solution.send(result)
    except StopIteration:
        return None


@asynccontextmanager
async def closing(player: P) -> AsyncIterator[P]:
    """Close a player at the end; what its close raises is the business of one rule alone."""
    try:
        yield player
    finally:
        try:
            await player.close()
        except InfraError:
            raise
        except Exception as exc:
            log.debug("close of %s: %r", type(player).__name__, exc)


def own_thread(spec: EnvSpec) -> ThreadPoolExecutor | None:
    """One thread for the bare envs of a spec that may block or that want no event loop around them."""
    if spec.concurrency in (Concurrency.INLINE, Concurrency.ASYNC):
        return None
    return ThreadPoolExecutor(1, thread_name_prefix="agentenv-check")
