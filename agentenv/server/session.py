"""One session: a live env, its position, and the rules that make each of its calls happen exactly once.

`docs/protocol.md` has the state machine in words. In short: a call names the position that it acts on. The session
keeps its last call (operation, position, body) and that call's reply. The same call again gets the same reply; the same
position with another body is refused, and so is any other position than the current one.

The table (`agentenv.server.sessions`) lets the calls of one session in one after the other, in order of arrival.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import msgspec

from agentenv.errors import AgentEnvError, BadRequest, EnvFailed, EpisodeOver, RequestMismatch, StepConflict
from agentenv.protocol import CUT_BY_ROLLOUT, Action, Outcome, StepResult, Task, digest_of
from agentenv.registry import EnvSpec, TaskAt, TaskSet, find_task
from agentenv.server.limits import ServerLimits
from agentenv.server.runners import InlineRunner, Runner, Runners
from agentenv.wire import (
    Problem,
    Reply,
    ResetBody,
    ResetReply,
    StateReply,
    StepBody,
    StepReply,
    TaskAtBody,
    TaskRefBody,
    clean_info,
    clean_text,
)

OK = 200
CUT_MARKER = "\n[... cut: the observation was longer than the limit]"


class Last(msgspec.Struct, frozen=True, gc=False):
    """The last call that changed the session, and its reply."""

    operation: str
    position: tuple[int, int]
    body: Any
    reply: Reply


class Session:
    """A live env under the session's rules; its methods never run two at a time."""

    def __init__(
        self,
        id: str,
        spec: EnvSpec,
        options: Mapping[str, Any],
        tasks: TaskSet,
        *,
        runners: Runners,
        limits: ServerLimits,
        clock: Callable[[], float],
        max_steps: int | None = None,
        images: bool = False,
    ) -> None:
        self.id = id
        self.spec = spec
        self.options = options
        self.tasks = tasks
        self.lock = asyncio.Lock()
        self.running = 0
        """Calls that are under way or wait for their turn; the lease is suspended while there are any."""
        self.idle_since = clock()
        self.key: str | None = None
        """The client's key of the create, where it gave one."""
        self.episode = 0
        self.step = 0
        self.outcome: Outcome | None = None
        self.observation = ""
        self.info: dict[str, Any] = {}
        self.image: bytes | None = None
        self.max_steps = 0
        self.task: Task
        self._runners = runners
        self.runner: Runner = runners.make(spec, options, images=images)
        self._limits = limits
        self._clock = clock
        self._wanted_steps = max_steps
        self._images = images
        self._last: Last | None = None
        self._final: StepReply | None = None
        self._agent_s = 0.0
        """The agent's own time in this episode: from each reply to the next call."""
        self._replied_at = clock()

    # What a call may do now.

    def kept_reply(self, operation: str, episode: int | None, step: int | None, body: Any) -> Reply | None:
        """The reply to give again when this call is the last one; None when it may act on the current position.

        Raises RequestMismatch (same position, other body) and StepConflict (another position).
        """
        if episode is None and step is None:
            return None
        if operation == "step" and episode == self.episode and step == self.step:
            return None  # the usual case: the last call, whatever it was, did not stand at the current step
        current = (self.episode, self.step if operation == "step" else 0)
        position = (current[0] if episode is None else episode, current[1] if step is None else step)
        last = self._last
        if last is not None and last.operation == operation and last.position == position:
            if last.body != body:
                raise RequestMismatch(
                    f"the {operation} at episode {position[0]}, step {position[1]} was done with another body",
                    episode=self.episode,
                    step=self.step,
                )
            return last.reply
        if position != current:
            raise StepConflict(
                f"the call says episode {position[0]}, step {position[1]}; "
                f"the session is at episode {self.episode}, step {self.step}",
                episode=self.episode,
                step=self.step,
            )
        return None

    # Operations. Each has a beginning and an end; what lies between them is the env's.

    async def start(self, task: Task) -> None:
        """The first reset, inside a create; EnvFailed when the env breaks."""
        self.task = task
        self._begin_episode(task, await self.runner.run("reset", task, self.spec.reset_s))

    async def reset(self, body: ResetBody) -> Reply:
        """Another episode in this session."""
        if (kept := self.kept_reply("reset", body.episode, None, body.task)) is not None:
            return kept
        task = find_task(self.spec, self.tasks, task_wanted(body.task))  # an unknown task changes nothing
        position = (self.episode, 0)
        if self.runner.spent:
            await self.runner.close()
            self.runner = self._runners.make(self.spec, self.options, images=self._images)
        self.episode, self.task = self.episode + 1, task
        try:
            self._begin_episode(task, await self.runner.run("reset", task, self.spec.reset_s))
            reply = Reply(OK, self._reset_body())
        except AgentEnvError as exc:
            self.step = 0
            self.observation, self.info, self.image = "", {}, None  # those of the episode before would mislead
            reply = self._broken(exc)
        self._last = Last("reset", position, body.task, reply)
        return reply

    def begin_step(self, body: StepBody) -> Action | Reply:
        """The action to do, or the reply to give without doing one."""
        wanted = body.action
        action = (
            Action(text=wanted) if isinstance(wanted, str) else Action(text=wanted.text, malformed=wanted.malformed)
        )
        if (kept := self.kept_reply("step", body.episode, body.step, self._told(action))) is not None:
            return kept
        if self.outcome is not None:
            raise EpisodeOver(
                f"episode {self.episode} has ended: {self.outcome}; reset or close the session",
                outcome=self.outcome.value,
                episode=self.episode,
                step=self.step,
            )
        self._agent_s += self._clock() - self._replied_at
        return action

    def playable(self, action: Action) -> Action:
        """The action as the env sees it: lone surrogates replaced, an oversized one malformed."""
        text, limit = action.text, self._limits.max_action_bytes
        if action.malformed is None and text.isascii() and len(text) <= limit:
            return action
        malformed = None if action.malformed is None else clean_text(action.malformed)
        if len(text) > limit or len(clean_text(text).encode()) > limit:
            reason = f"the action is longer than {limit} bytes"
            return Action(text=clean_text(text[:1000]), malformed=malformed or reason)
        return Action(text=clean_text(text), malformed=malformed)

    def _told(self, action: Action) -> Action | str:
        """What is kept to know an action again: itself, of a huge one the digest."""
        if len(action.text) + len(action.malformed or "") <= self._limits.max_action_bytes:
            return action
        return digest_of([action.text, action.malformed])

    def step_now(self, body: StepBody) -> Reply | None:
        """A step of an inline env from beginning to end; None when it needs the event loop."""
        runner = self.runner
        if type(runner) is not InlineRunner or self.running or not runner.ready:
            return None
        action = self.begin_step(body)
        if isinstance(action, Reply):
            return action
        try:
            result = runner.run_now("step", self.playable(action), self.spec.step_s)
            cut = self._cut(result)
            if cut is not None:
                result = self._finished(result, runner.run_now("finish", cut.value, self.spec.step_s))
        except AgentEnvError as exc:
            return self._end_step(action, exc, None)
        return self._end_step(action, result, cut)

    async def step_later(self, body: StepBody) -> Reply:
        """A step of any env."""
        action = self.begin_step(body)
        if isinstance(action, Reply):
            return action
        try:
            result: StepResult = await self.runner.run("step", self.playable(action), self.spec.step_s)
            cut = self._cut(result)
            if cut is not None:
                result = self._finished(result, await self.runner.run("finish", cut.value, self.spec.step_s))
        except AgentEnvError as exc:
            return self._end_step(action, exc, None)
        return self._end_step(action, result, cut)

    async def state(self, *, actions: bool) -> StateReply:
        """Where the session stands."""
        reply = StateReply(
            session=self.id,
            env=self.spec.id,
            task=unlabelled(ref_body(self.task)),
            observation=self.observation,
            episode=self.episode,
            step=self.step,
            outcome=None if self.outcome is None else self.outcome.value,
            lease_left_s=self._limits.lease_s,
        )
        if actions:
            over = self.outcome is not None
            reply.available_actions = [] if over else clean_info(await self._asked("actions"))
        return reply

    async def oracle(self) -> Action:
        """The scripted solution's next action."""
        if self.outcome is not None:
            raise EpisodeOver(f"episode {self.episode} has ended: {self.outcome}", outcome=self.outcome.value)
        action: Action = await self._asked("oracle")
        return action

    async def _asked(self, operation: str) -> Any:
        """Ask the env something between two steps: its time is not the agent's."""
        asked_at = self._clock()
        try:
            return await self.runner.run(operation, None, self.spec.step_s)
        except EnvFailed as exc:
            if self.runner.spent:  # the env hangs or its process is gone, and the episode with it
                self._broken(exc)
            raise
        finally:
            self._replied_at += self._clock() - asked_at

    async def end(self, outcome: str | None) -> StepReply:
        """Close the session; a running episode ends with `outcome` (cancelled when none is given)."""
        if self.outcome is None:
            cut = self._wanted_outcome(outcome)
            self.outcome = cut
            if cut.valid and not self.runner.spent:
                try:
                    finished = await self.runner.run("finish", cut.value, self.spec.step_s)
                    if finished is not None:
                        last = StepResult(observation="", reward=self._last_reward(), info=self.info)
                        result = self._finished(last, finished)
                        self._show(result)
                        self._final = self._step_body(result, cut)
                except AgentEnvError:
                    self.outcome = Outcome.ENV_ERROR
        await self.runner.close()
        return self.final()

    def final(self) -> StepReply:
        """The final result: of the last step, with what `finish` added and the outcome that holds."""
        last = self._final
        valid = self.outcome is not None and self.outcome.valid
        return StepReply(
            observation="",
            reward=self._last_reward() if last is None else last.reward,
            terminated=self.outcome is not None and self.outcome.terminated,
            truncated=self.outcome is not None and self.outcome.truncated,
            outcome=None if self.outcome is None else self.outcome.value,
            success=(bool(last.success) if last else False) if valid else None,
            score=last.score if last else None,
            info=last.info if last else {},
            episode=self.episode,
            step=self.step,
        )

    # Parts.

    def _wanted_outcome(self, outcome: str | None) -> Outcome:
        try:
            cut = Outcome(outcome or Outcome.CANCELLED)
        except ValueError:
            cut = Outcome.SUCCESS  # not a cut either
        if cut not in CUT_BY_ROLLOUT:
            raise BadRequest(
                f"outcome {outcome!r} of a running episode: choose from {', '.join(sorted(CUT_BY_ROLLOUT))}"
            )
        return cut

    def _begin_episode(self, task: Task, result: StepResult) -> None:
        limits = [self.spec.max_steps, task.max_steps, self._wanted_steps]
        self.max_steps = min(n for n in limits if n is not None)
        self.step, self.outcome, self._final, self._agent_s = 0, None, None, 0.0
        self._show(result)
        self._replied_at = self._clock()

    def _reset_body(self) -> ResetReply:
        return ResetReply(
            task=ref_body(self.task),
            observation=self.observation,
            info=self.info,
            episode=self.episode,
            max_steps=self.max_steps,
            image=self.image,
        )

    def _cut(self, result: StepResult) -> Outcome | None:
        """Why the session stops the episode after this step, if it does."""
        if result.terminated:
            return None
        if self.step + 1 >= self.max_steps:
            return Outcome.STEP_LIMIT
        return Outcome.TIME_LIMIT if self._agent_s >= self.spec.episode_s else None

    @staticmethod
    def _finished(result: StepResult, finished: StepResult | None) -> StepResult:
        """A cut step with what `finish` says: its reward is added, success and score replace."""
        if finished is None:
            return result
        return replace(
            result,
            reward=result.reward + finished.reward,
            success=finished.success,
            score=finished.score,
            info={**result.info, **finished.info},
        )

    def _end_step(self, action: Action, result: StepResult | AgentEnvError, cut: Outcome | None) -> Reply:
        position = (self.episode, self.step)
        self.step += 1
        if isinstance(result, AgentEnvError):
            reply = self._broken(result)
        else:
            if result.terminated:
                self.outcome = Outcome.SUCCESS if result.success else Outcome.FAILURE
            else:
                self.outcome = cut
            try:
                self._show(result)
                body = self._step_body(result, self.outcome)
                self._final = body
                reply = Reply(OK, body)
            except EnvFailed as exc:
                reply = self._broken(exc)
        self._last = Last("step", position, self._told(action), reply)
        self._replied_at = self._clock()
        return reply

    def _step_body(self, result: StepResult, outcome: Outcome | None) -> StepReply:
        return StepReply(
            self.observation,
            result.reward,
            False if outcome is None else outcome.terminated,
            False if outcome is None else outcome.truncated,
            None if outcome is None else outcome.value,
            None if outcome is None else bool(result.success),
            result.score,
            self.info,
            self.episode,
            self.step,
            self.image,
        )

    def _broken(self, error: AgentEnvError) -> Reply:
        """The env broke: the episode is over, neither scored nor trained on."""
        self.outcome, self._final = Outcome.ENV_ERROR, None
        error.extra.update(outcome=self.outcome.value, episode=self.episode, step=self.step)
        return Reply(error.status, Problem.of(error))

    def _show(self, result: StepResult) -> None:
        """Take over observation, image and info, inside their limits."""
        text, info = clean_text(result.observation), result.info
        limit = self._limits.max_observation_bytes
        if len(text) > limit or (not text.isascii() and len(text.encode()) > limit):
            text = text.encode()[:limit].decode("utf-8", "ignore") + CUT_MARKER
            info = {**info, "cut": True}
        if info:
            try:
                size = len(msgspec.json.encode(info))
            except UnicodeEncodeError:
                info = clean_info(info)
                size = len(msgspec.json.encode(info))
            if size > self._limits.max_info_bytes:
                raise EnvFailed(f"{self.spec.id} returned info of {size} bytes, over {self._limits.max_info_bytes}")
        self.observation, self.info = text, dict(info)
        self.image = result.image if self._images else None

    def _last_reward(self) -> float:
        return self._final.reward if self._final is not None else 0.0


def task_wanted(body: str | TaskAtBody) -> str | TaskAt:
    """The wire's way to name a task as the registry's."""
    return body if isinstance(body, str) else TaskAt(split=body.split, index=body.index, seed=body.seed)


def ref_body(task: Task) -> TaskRefBody:
    """The task's reference as it travels."""
    ref = task.ref()
    return TaskRefBody(ref.id, ref.env, ref.split, ref.index, ref.category, ref.difficulty, ref.template, ref.digest)


def unlabelled(ref: TaskRefBody) -> TaskRefBody:
    """What an agent may know of its task: no kind and no grade, which can tell that a question has no answer."""
    return TaskRefBody(ref.id, ref.env, ref.split, ref.index, category="", difficulty=0, template="", digest=ref.digest)
