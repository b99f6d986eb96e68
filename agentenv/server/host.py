"""One env object under the author's contract: it counts steps, answers malformed actions, and checks what comes back.

A host runs where the env runs: on the event loop, in a thread, or in a child process. `EnvHost` and `AsyncEnvHost` have
the same operations, so a runner moves either by name.
"""

from __future__ import annotations

import math
from collections.abc import AsyncGenerator, Generator, Mapping
from dataclasses import replace
from typing import Any, cast

from agentenv.env import AsyncEnv, Env
from agentenv.errors import AgentEnvError, BadCall, EnvFailed, OracleDiverged
from agentenv.protocol import Action, Outcome, StepResult, Task
from agentenv.registry import EnvSpec

ENV_FAULTS = (Exception, SystemExit)
"""What may come out of an env's method; `sys.exit` in an env must not end the server."""


class _Common:
    """What both hosts share: the bookkeeping that needs no env call. `options` are resolved ones."""

    def __init__(self, spec: EnvSpec, options: Mapping[str, Any], *, images: bool) -> None:
        self.spec = spec
        self.options = dict(options)
        self.images = images
        self.task: Task | None = None
        self._pending: Action | None = None  # the oracle's answer, until the next step
        self._diverged = False

    def _malformed(self, action: Action) -> StepResult:
        text = self.spec.malformed_text.replace("{reason}", action.malformed or "")
        return StepResult(observation=text)

    def _note_step(self, env: Env | AsyncEnv, action: Action, result: StepResult) -> StepResult:
        if self._pending is None or action != self._pending:
            self._diverged = True
        self._pending = None
        env.steps += 1
        env.last = result
        return result

    def _failed(self, operation: str, error: BaseException) -> AgentEnvError:
        if isinstance(error, EnvFailed) or (operation == "reset" and isinstance(error, BadCall)):
            return cast(AgentEnvError, error)
        if operation == "oracle" and isinstance(error, OracleDiverged):
            return error
        return EnvFailed(f"{self.spec.id}.{operation}: {type(error).__name__}: {error}")

    def _expect_action(self, action: object) -> Action:
        if isinstance(action, Action):
            return action
        raise EnvFailed(f"{self.spec.id}.solve yielded {type(action).__name__}, not an Action")

    def _oracle_refused(self) -> OracleDiverged | None:
        if not self._diverged:
            return None
        return OracleDiverged(f"the oracle of {self.spec.id} cannot go on after an action that was not its own; reset")


class EnvHost(_Common):
    """Hosts an `Env`."""

    def __init__(self, spec: EnvSpec, options: Mapping[str, Any], *, images: bool = False) -> None:
        super().__init__(spec, options, images=images)
        self.env: Env | None = None
        self._solution: Generator[Action, StepResult, None] | None = None

    def reset(self, task: Task) -> StepResult:
        """Start an episode of `task`, in the same env object where the spec allows it."""
        try:
            self._drop_solution()
            if self.env is not None and not self.spec.reuse:
                self.close()
            if self.env is None:
                self.env = cast(Env, self.spec.build(self.options))
                self.env.images = self.images
            self.task, self._diverged = task, False
            self.env.steps, self.env.last = 0, StepResult(observation="")
            self.env.last = checked(self.env.reset(task), self.spec)
            return self.env.last
        except ENV_FAULTS as exc:
            raise self._failed("reset", exc) from exc

    def step(self, action: Action) -> StepResult:
        """Do one action, or answer a malformed one."""
        env = cast(Env, self.env)
        try:
            malformed = action.malformed is not None
            result = self._malformed(action) if malformed else checked(env.step(action), self.spec)
            return self._note_step(env, action, result)
        except ENV_FAULTS as exc:
            raise self._failed("step", exc) from exc

    def actions(self, _: None = None) -> list[str] | None:
        """The env's available actions."""
        try:
            found = cast(Env, self.env).available_actions()
            return None if found is None else [str(a) for a in found]
        except ENV_FAULTS as exc:
            raise self._failed("available_actions", exc) from exc

    def oracle(self, _: None = None) -> Action:
        """The scripted solution's next action; the same one until a step is done."""
        try:
            if self._pending is None:
                if refused := self._oracle_refused():
                    raise refused
                env = cast(Env, self.env)
                if self._solution is None:
                    self._solution = env.solve(cast(Task, self.task))
                    self._pending = self._expect_action(next(self._solution))
                else:
                    self._pending = self._expect_action(self._solution.send(env.last))
            return self._pending
        except StopIteration as exc:
            raise EnvFailed(f"{self.spec.id}.solve: ended before the episode did") from exc
        except ENV_FAULTS as exc:
            raise self._failed("oracle", exc) from exc

    def finish(self, reason: str) -> StepResult | None:
        """The env's score of an episode that is being cut."""
        try:
            result = cast(Env, self.env).finish(Outcome(reason))
            return None if result is None else checked(result, self.spec)
        except ENV_FAULTS as exc:
            raise self._failed("finish", exc) from exc

    def close(self, _: None = None) -> None:
        """Close the env; EnvFailed only tells of what went wrong, the env is dropped all the same."""
        env, self.env = self.env, None
        try:
            self._drop_solution()
            if env is not None:
                env.close()
        except ENV_FAULTS as exc:
            raise self._failed("close", exc) from exc

    def _drop_solution(self) -> None:
        solution, self._solution, self._pending = self._solution, None, None
        if solution is not None:
            solution.close()


class AsyncEnvHost(_Common):
    """Hosts an `AsyncEnv`; see EnvHost for each operation."""

    def __init__(self, spec: EnvSpec, options: Mapping[str, Any], *, images: bool = False) -> None:
        super().__init__(spec, options, images=images)
        self.env: AsyncEnv | None = None
        self._solution: AsyncGenerator[Action, StepResult] | None = None

    async def reset(self, task: Task) -> StepResult:
        """Start an episode."""
        try:
            await self._drop_solution()
            if self.env is not None and not self.spec.reuse:
                await self.close()
            if self.env is None:
                self.env = cast(AsyncEnv, self.spec.build(self.options))
                self.env.images = self.images
            self.task, self._diverged = task, False
            self.env.steps, self.env.last = 0, StepResult(observation="")
            self.env.last = checked(await self.env.reset(task), self.spec)
            return self.env.last
        except ENV_FAULTS as exc:
            raise self._failed("reset", exc) from exc

    async def step(self, action: Action) -> StepResult:
        """Do one action."""
        env = cast(AsyncEnv, self.env)
        try:
            malformed = action.malformed is not None
            result = self._malformed(action) if malformed else checked(await env.step(action), self.spec)
            return self._note_step(env, action, result)
        except ENV_FAULTS as exc:
            raise self._failed("step", exc) from exc

    async def actions(self, _: None = None) -> list[str] | None:
        """The env's available actions."""
        try:
            found = await cast(AsyncEnv, self.env).available_actions()
            return None if found is None else [str(a) for a in found]
        except ENV_FAULTS as exc:
            raise self._failed("available_actions", exc) from exc

    async def oracle(self, _: None = None) -> Action:
        """The scripted solution's next action."""
        try:
            if self._pending is None:
                if refused := self._oracle_refused():
                    raise refused
                env = cast(AsyncEnv, self.env)
                if self._solution is None:
                    self._solution = env.solve(cast(Task, self.task))
                    self._pending = self._expect_action(await anext(self._solution))
                else:
                    self._pending = self._expect_action(await self._solution.asend(env.last))
            return self._pending
        except StopAsyncIteration as exc:
            raise EnvFailed(f"{self.spec.id}.solve: ended before the episode did") from exc
        except ENV_FAULTS as exc:
            raise self._failed("oracle", exc) from exc

    async def finish(self, reason: str) -> StepResult | None:
        """The env's score of a cut episode."""
        try:
            result = await cast(AsyncEnv, self.env).finish(Outcome(reason))
            return None if result is None else checked(result, self.spec)
        except ENV_FAULTS as exc:
            raise self._failed("finish", exc) from exc

    async def close(self, _: None = None) -> None:
        """Close the env."""
        env, self.env = self.env, None
        try:
            await self._drop_solution()
            if env is not None:
                await env.close()
        except ENV_FAULTS as exc:
            raise self._failed("close", exc) from exc

    async def _drop_solution(self) -> None:
        solution, self._solution, self._pending = self._solution, None, None
        if solution is not None:
            await solution.aclose()


def checked(result: StepResult, spec: EnvSpec) -> StepResult:
    """`result` with plain Python values; EnvFailed when it breaks the contract."""
    if not isinstance(result, StepResult):
        raise EnvFailed(f"{spec.id} returned {type(result).__name__}, not a StepResult")
    reward, success, terminated = result.reward, result.success, result.terminated
    if type(reward) is not float or type(terminated) is not bool or result.info or not _plain_end(result):
        result = replace(
            result,
            reward=_number(reward, "reward", spec),
            terminated=bool(terminated),
            success=None if success is None else bool(success),
            score=None if result.score is None else _number(result.score, "score", spec),
            info=_plain_info(result.info, spec),
        )
        reward, success, terminated = result.reward, result.success, result.terminated
    low, high = spec.reward_range
    if not low - 1e-9 <= reward <= high + 1e-9:  # also false for NaN
        raise EnvFailed(f"{spec.id} returned reward {reward!r}; its card says {low} to {high}")
    if terminated and success is None:
        raise EnvFailed(f"{spec.id} terminated without saying `success`")
    if type(result.observation) is not str:
        raise EnvFailed(f"{spec.id} returned an observation of type {type(result.observation).__name__}, not str")
    if result.image is not None and type(result.image) is not bytes:
        raise EnvFailed(f"{spec.id} returned an image of type {type(result.image).__name__}, not bytes")
    return result


def _plain_end(result: StepResult) -> bool:
    """Whether score, success and an empty info are what they are without a conversion."""
    return result.score is None and type(result.success) in (bool, type(None)) and result.info is not None


def _plain_info(info: Any, spec: EnvSpec) -> Any:
    if not isinstance(info, Mapping):
        raise EnvFailed(f"{spec.id} returned info of type {type(info).__name__}, not a mapping")
    return plain(info, spec)


def _number(value: Any, name: str, spec: EnvSpec) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError) as exc:
        raise EnvFailed(f"{spec.id} returned {name} {value!r}, not a number") from exc
    if not math.isfinite(number):
        raise EnvFailed(f"{spec.id} returned {name} {number!r}")
    return number


def plain(value: Any, spec: EnvSpec) -> Any:
    """`value` as JSON values: numpy scalars and arrays become numbers and lists; NaN and others are EnvFailed."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str(value)  # numpy's strings are a subclass
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise EnvFailed(f"{spec.id} returned info with {value!r}, which JSON cannot carry")
        return float(value)
    if isinstance(value, Mapping):
        return {str(k): plain(v, spec) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v, spec) for v in value]
    if hasattr(value, "tolist"):  # numpy arrays and scalars, without importing numpy
        return plain(value.tolist(), spec)
    raise EnvFailed(f"{spec.id} returned info with a {type(value).__name__}, which JSON cannot carry")
