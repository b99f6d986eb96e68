"""Playing episodes: an agent, a session, and the trajectory that comes of them.

Whatever goes wrong in the environment, the server or the agent ends the episode with its own outcome and becomes a
record. Only a wrong call (BadCall) and cancellation leave as exceptions.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import time
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from typing import Any

from agentenv.agents.base import Agent, AgentSpec, Ends, Move, Seat
from agentenv.at_once import at_once
from agentenv.client.core import RemoteSession
from agentenv.errors import AgentEnvError, BadCall, EnvFailed, EpisodeCut
from agentenv.pictures import Keep
from agentenv.pool import EnvPool
from agentenv.protocol import CUT_BY_ROLLOUT, Outcome, TaskRef, digest_of
from agentenv.trajectory import Trajectory, Turn
from agentenv.wire import StepReply


class Recorder:
    """Collects the turns of one episode and how it ended."""

    def __init__(self, pool: EnvPool, task: TaskRef, agent: AgentSpec, keep: Keep | None = None) -> None:
        self.pool, self.task, self.agent, self.keep = pool, task, agent, keep
        self.turns: list[Turn] = []
        self.outcome: Outcome | None = None
        self.success = False
        self.score: float | None = None
        self.error: str | None = None
        self.final_observation = ""
        self.image: str | None = None
        """Of the latest observation."""
        self.max_steps = pool.max_steps or pool.spec.max_steps
        self.oracle = False
        self.agent_s = 0.0
        self.env_s = 0.0
        self.started = time.monotonic()

    def took(self, observation: str, move: Move, reply: StepReply) -> None:
        """Note a step that the session answered."""
        self.turns.append(turn_of(observation, move, reply.reward, reply.info, image=self.image))
        self.image = None
        self.final_observation = reply.observation
        self.score = reply.score
        if reply.outcome is not None:
            self.outcome, self.success = Outcome(reply.outcome), bool(reply.success)

    async def saw(self, image: bytes | None) -> None:
        """Keep the picture beside the latest observation; in a thread, for a disk can be slow."""
        if self.keep is not None and image:
            self.image = await asyncio.to_thread(self.keep, image)

    def ended(self, outcome: Outcome, error: str | None) -> None:
        """Note an end that no step's reply told."""
        self.outcome, self.error = outcome, error

    def finished(self, reply: StepReply | None) -> None:
        """Take over what `finish` said about a cut episode."""
        if reply is None or self.outcome is None or not self.outcome.valid:
            return
        if reply.outcome == Outcome.ENV_ERROR:
            self.ended(
                Outcome.ENV_ERROR, f"the environment broke when it scored the episode that was cut: {self.error}"
            )
            return
        self.success, self.score = bool(reply.success), reply.score
        if self.turns:
            self.turns[-1] = replace(self.turns[-1], reward=reply.reward)

    def trajectory(self) -> Trajectory:
        """The record."""
        assert self.outcome is not None
        return Trajectory(
            task=self.task,
            env=self.pool.spec.id,
            env_version=self.pool.spec.version,
            env_options=self.pool.options,
            max_steps=self.max_steps,
            tasks_digest=self.pool.card.get("tasks_digest", ""),
            agent=self.agent.described_in(self.pool.spec),
            outcome=self.outcome,
            success=self.success,
            reward=sum(turn.reward for turn in self.turns),
            last_reward=self.turns[-1].reward if self.turns else 0.0,
            score=self.score,
            steps=len(self.turns),
            oracle=self.oracle,
            turns=self.turns,
            final_observation=self.final_observation,
            final_image=self.image,
            error=self.error,
            time={
                "total_s": round(time.monotonic() - self.started, 6),
                "agent_s": round(self.agent_s, 6),
                "env_s": round(self.env_s, 6),
            },
        )


def turn_of(observation: str, move: Move, reward: float, info: dict[str, Any], *, image: str | None = None) -> Turn:
    """The record of one move and its reward."""
    completion = move.completion
    notes = dict(move.notes)
    if completion is not None:
        counts = {
            "prompt_tokens": completion.prompt_tokens,
            "completion_tokens": completion.completion_tokens,
            "reasoning_tokens": completion.reasoning_tokens,
            "cached_tokens": completion.cached_tokens,
            "finish_reason": completion.finish_reason or None,
            "retries": completion.retries or None,
            "latency_s": round(completion.latency_s, 6),
            "cost": completion.cost,
            "raw": completion.raw or None,
        }
        notes.update({name: value for name, value in counts.items() if value is not None})
        notes.update(completion.notes)
    return Turn(
        observation=observation,
        action=move.action.text,
        malformed=move.action.malformed,
        reward=reward,
        messages=move.messages,
        prompt_ids=completion.prompt_ids if completion else None,
        token_ids=completion.token_ids if completion else None,
        logprobs=completion.logprobs if completion else None,
        policy_version=completion.policy_version if completion else None,
        fresh=completion.fresh if completion else None,
        prompt_len=completion.prompt_len if completion else None,
        image=image,
        info={**info, "agent": notes} if notes else info,
    )


async def play(
    pool: EnvPool, task: TaskRef, agent: AgentSpec, *, attempt: int = 0, keep: Keep | None = None
) -> Trajectory:
    """One episode. The agent's chance comes from the task and the attempt.

    keep: stores the pictures of a pool with `images=True`; their sha256 go into the record. No agent sees them.
    """
    recorder = Recorder(pool, task, agent, keep)
    try:
        async with pool.session(task.id) as session:
            recorder.max_steps = session.max_steps
            recorder.env_s = time.monotonic() - recorder.started
            if session.task.digest != task.digest:
                raise BadCall(
                    f"{task.id} is another task on the server ({session.task.digest[:12]}) "
                    f"than here ({task.digest[:12]}): versions or options differ"
                )
            async with _kept_alive(session):
                await _episode(session, recorder, agent, attempt)
            if session.outcome is None:
                recorder.finished(await pool.finish(session, recorder.outcome or Outcome.CANCELLED))
            recorder.oracle = session.oracle_used
    except BadCall:
        raise
    except (AgentEnvError, EpisodeCut) as exc:
        recorder.ended(*_end_of(exc))
    return recorder.trajectory()


async def _episode(session: RemoteSession, recorder: Recorder, spec: AgentSpec, attempt: int) -> None:
    """Turns until the end; every exception but BadCall becomes the outcome."""
    rng = random.Random(digest_of([recorder.task.digest, attempt]))
    agent: Agent = spec.make()
    try:
        await agent.start(
            Seat(spec=recorder.pool.spec, task=recorder.task, view=session, max_steps=session.max_steps, rng=rng)
        )
        await recorder.saw(session.image)
        while session.outcome is None:
            observation = session.observation
            before = time.monotonic()
            move = await agent.act(observation)
            acted = time.monotonic()
            recorder.agent_s += acted - before
            reply = await session.step(move.action)
            recorder.env_s += time.monotonic() - acted
            recorder.took(observation, move, reply)
            await recorder.saw(reply.image)
    except BadCall:
        raise
    except (AgentEnvError, EpisodeCut) as exc:
        recorder.ended(*_end_of(exc))
    except Exception as exc:
        recorder.ended(Outcome.AGENT_ERROR, f"{type(exc).__name__}: {exc}")
    finally:
        if isinstance(agent, Ends):
            await agent.end(recorder.outcome, recorder.success)


def _end_of(error: Exception) -> tuple[Outcome, str]:
    """The outcome that an exception stands for."""
    match error:
        case EpisodeCut() if error.outcome in CUT_BY_ROLLOUT:
            return Outcome(error.outcome), error.detail
        case EnvFailed():
            return Outcome.ENV_ERROR, error.message
        case AgentEnvError():
            return Outcome.INFRA_LOST, f"{error.code}: {error.message}"
    return Outcome.AGENT_ERROR, f"{type(error).__name__}: {error}"


@contextlib.asynccontextmanager
async def _kept_alive(session: RemoteSession) -> AsyncIterator[None]:
    """Renew the lease while a model thinks."""

    async def renew() -> None:
        while True:
            await asyncio.sleep(session.limits.lease_s / 3)
            with contextlib.suppress(AgentEnvError):  # the next step tells it better
                await session.get()

    task = asyncio.create_task(renew())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait([task])


async def rollout(
    pool: EnvPool,
    tasks: Sequence[TaskRef],
    agent: AgentSpec,
    *,
    attempts: int = 1,
    concurrency: int | None = None,
    on_episode: Callable[[Trajectory], None] | None = None,
    keep: Keep | None = None,
) -> list[Trajectory]:
    """Every task, `attempts` times, at most `concurrency` (the pool's size) at once; records in the plan's order."""
    if concurrency is not None and concurrency < 1:
        raise BadCall(f"concurrency is {concurrency}; it must be at least 1")

    async def one(place: tuple[TaskRef, int]) -> Trajectory:
        task, attempt = place
        record = await play(pool, task, agent, attempt=attempt, keep=keep)
        if on_episode is not None:
            on_episode(record)
        return record

    plan = [(task, attempt) for task in tasks for attempt in range(attempts)]
    return await at_once(plan, one, most=min(concurrency or pool.size, pool.size))
