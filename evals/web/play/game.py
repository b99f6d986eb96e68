"""One episode that a person plays: a session of the server's own table, its turns, and its end.

A step names its position, as every client's does: the same action at the same position again (a double click, a
resend) changes nothing, another one there is refused.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import secrets
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any

from agentenv.client.core import RemoteSession
from agentenv.errors import AgentEnvError, BadRequest, EnvFailed, EpisodeOver, StepConflict
from agentenv.protocol import Outcome
from agentenv.trajectory import Trajectory, Turn
from agentenv.wire import StepReply, clean_text
from evals.web.play.choices import Chosen
from evals.web.play.record import Ending, Player, Stored, trajectory

LISTED = re.compile(r"available actions|admissible", re.IGNORECASE)
"""What an observation says that lists the actions."""

Keep = Callable[[Chosen, Player, Trajectory], Awaitable[Stored | None]]


class Game:
    """An episode under way, or one that has just ended."""

    def __init__(
        self,
        chosen: Chosen,
        session: RemoteSession,
        *,
        pseudonym: str,
        practice: bool,
        images: bool,
        keep: Keep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.id = secrets.token_hex(16)
        self.chosen, self.session, self.practice, self.images = chosen, session, practice, images
        self.pseudonym, self.hints = pseudonym, False
        self.turns: list[Turn] = []
        self.observation, self.image = session.observation, session.image
        self.offered: list[str] | None = None
        """The actions that the page may show now: the agent sees them too, or hints are on."""
        self.end: Ending | None = None
        self.info: Mapping[str, Any] = session.info
        self.stored: Stored | None = None
        self.problem: str | None = None
        """Why the episode could not be stored."""
        self._keep, self._clock = keep, clock
        self._lock = asyncio.Lock()
        self._started = self._replied = clock()
        self._times = {"agent_s": 0.0, "env_s": 0.0}

    @property
    def player(self) -> Player:
        """Who plays, and how."""
        return Player(pseudonym=self.pseudonym, hints=self.hints)

    async def begin(self) -> None:
        """Look at the first observation."""
        async with self._lock:
            await self._offer()

    async def step(self, step: int, action: str) -> None:
        """Do one action at the position `step`. Raises StepConflict, EpisodeOver, BadRequest for an action too long."""
        action = clean_text(action)
        async with self._lock:
            if step == len(self.turns) - 1 and self.turns[-1].action == action:
                return
            if self.end is not None:
                raise EpisodeOver(f"the episode has ended: {self.end.outcome}", outcome=self.end.outcome.value)
            if step != len(self.turns):
                raise StepConflict(f"the action is for step {step}; the episode is at step {len(self.turns)}")
            if len(action.encode()) > self.session.limits.max_action_bytes:
                raise BadRequest(f"the action is longer than {self.session.limits.max_action_bytes} bytes")
            await self._act(action)

    async def _act(self, action: str) -> None:
        began = self._clock()
        thought = began - self._replied
        self._times["agent_s"] += thought
        try:
            reply = await self.session.step(action)
        except EnvFailed as exc:
            return await self._over(Ending(outcome=Outcome.ENV_ERROR, error=exc.message))
        except AgentEnvError as exc:
            return await self._over(Ending(outcome=Outcome.INFRA_LOST, error=f"{exc.code}: {exc.message}"))
        self._replied = self._clock()
        self._times["env_s"] += self._replied - began
        info = {**reply.info, "agent": {"latency_s": round(thought, 3)}}
        self.turns.append(
            Turn(
                observation=self.observation,
                action=action,
                reward=reply.reward,
                available_actions=self.offered,
                info=info,
            )
        )
        self.observation, self.image, self.info = reply.observation, reply.image, reply.info
        if reply.outcome is None:
            return await self._offer()
        await self._over(
            Ending(
                outcome=Outcome(reply.outcome),
                success=bool(reply.success),
                score=reply.score,
                observation=reply.observation,
            )
        )

    async def turn_hints_on(self) -> bool:
        """Show what can be done, from now on; False, and nothing is noted, where the actions have no bound."""
        async with self._lock:
            if self.end is not None or self.hints:
                return self.hints
            self.hints = await self._available() is not None
            await self._offer()
            return self.hints

    async def give_up(self) -> None:
        """The person ends the episode: it counts, and is no success unless the environment says so."""
        await self._cut(Outcome.AGENT_ERROR, "gave up")

    async def leave(self, why: str) -> None:
        """The person has gone: it does not count."""
        await self._cut(Outcome.CANCELLED, why)

    async def lost(self, why: str) -> None:
        """The server ends: what was played is stored without asking the environment."""
        async with self._lock:
            if self.end is None:
                await self._over(Ending(outcome=Outcome.CANCELLED, observation=self.observation, error=why))

    async def renew(self) -> None:
        """Keep the session alive while the person thinks."""
        if self.end is None:
            with contextlib.suppress(AgentEnvError):  # the next step tells it better
                await self.session.get()

    async def _cut(self, outcome: Outcome, why: str) -> None:
        async with self._lock:
            if self.end is not None:
                return
            reply = await self.session.close(outcome)
            if reply is None:
                return await self._over(Ending(outcome=Outcome.INFRA_LOST, error="the session was lost"))
            await self._over(self._finished(reply, outcome, why))

    def _finished(self, reply: StepReply, outcome: Outcome, why: str) -> Ending:
        """The end of a cut episode with what the environment says about it."""
        if reply.outcome == Outcome.ENV_ERROR:
            return Ending(outcome=Outcome.ENV_ERROR, error="the environment broke when it scored the episode")
        if outcome.valid:
            self.info = reply.info
            if self.turns:
                self.turns[-1] = replace(self.turns[-1], reward=reply.reward)
        return Ending(
            outcome=outcome,
            success=bool(reply.success) if outcome.valid else False,
            score=reply.score if outcome.valid else None,
            observation=self.observation,
            error=why,
        )

    async def _offer(self) -> None:
        """Ask for the actions where the page may show them."""
        self.offered = None
        if self.hints or LISTED.search(self.observation):
            found = await self._available()
            if found is not None and (self.hints or all(action in self.observation for action in found)):
                self.offered = found

    async def _available(self) -> list[str] | None:
        try:
            return await self.session.available_actions()
        except AgentEnvError:  # the next step says what is wrong
            return None

    async def _over(self, end: Ending) -> None:
        self.offered = None
        await self.session.close()
        played = trajectory(
            self.chosen,
            self.player,
            self.turns,
            end,
            max_steps=self.session.max_steps,
            images=self.images,
            time={"total_s": self._clock() - self._started, **self._times},
        )
        try:
            self.stored = await self._keep(self.chosen, self.player, played)
            self.practice = self.stored is None
        except AgentEnvError as exc:
            self.problem = exc.message
        self.end = end  # last: whoever looks meanwhile sees a game that goes on, and not one that was not stored
