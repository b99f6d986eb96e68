"""`EnvClient`: one environment as a gymnasium.Env, in this process or on a server."""

from __future__ import annotations

from typing import Any, SupportsFloat

import gymnasium

from agentenv.client.core import Connection, RemoteSession
from agentenv.client.portal import portal
from agentenv.client.source import Card, Observation, Source, StepBeforeReset
from agentenv.client.spaces import FreeText
from agentenv.errors import ClientClosed, InfraError, SessionError
from agentenv.protocol import Action
from agentenv.registry import TaskAt


class Held:
    """What a client holds of its server; apart from the client, so that it outlives one that is forgotten."""

    session: RemoteSession | None = None


class EnvClient(gymnasium.Env[Observation, str]):
    """One environment; text in, text out.

    `reset` draws a task of `split` from the seeded generator unless `task` or `options={"task": ...}` names one.
    `step` raises EnvFailed when the environment breaks and SessionGone when its session was lost; `reset` recovers
    from both. `info` has `task` (its id), `episode` (since the last seeded reset), `outcome`, `success` and `score`.
    """

    metadata = {"render_modes": []}  # noqa: RUF012 - gymnasium's own form

    def __init__(
        self,
        env: str,
        *,
        base_url: str | None = None,
        split: str = "train",
        task: str | int | dict[str, Any] | None = None,
        max_steps: int | None = None,
        token: str | None = None,
        images: bool = False,
        transport: str = "websocket",
        **options: Any,
    ) -> None:
        self.source = Source(
            env=env,
            base_url=base_url,
            split=split,
            task=task,
            max_steps=max_steps,
            token=token,
            images=images,
            transport=transport,
            options=options,
        )
        self.observation_space = self.source.observation_space()
        self.action_space = FreeText()
        self._open()

    def _open(self) -> None:
        self._portal = portal()
        self._card: Card
        self._held = Held()
        self._episode = -1
        self._connection, self._card = self._portal.run(self.source.connect(self._portal))
        self._finalizer = self._portal.when_forgotten(self, _close, self._connection, self._held)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin an episode; opens the session at the first one, and again after it was lost."""
        connection = self._connected()
        super().reset(seed=seed)
        self._episode = 0 if seed is not None else self._episode + 1
        task = self.source.choose(self._card, self.np_random, (options or {}).get("task"))
        session = self._portal.run(self._begin(connection, task))
        return self._seen(session), self._info(session, None, None)

    async def _begin(self, connection: Connection, task: str | TaskAt) -> RemoteSession:
        session = self._held.session
        if session is not None and session.lost is None:
            try:
                await session.reset(task)
                return session
            except (SessionError, InfraError):  # gone, out of reach, or an interrupt left it at another position
                await session.close()
        source = self.source
        session = self._held.session = await connection.create(
            source.env, task, options=source.options, max_steps=source.max_steps, images=source.images
        )
        return session

    def step(self, action: str | Action) -> tuple[Observation, SupportsFloat, bool, bool, dict[str, Any]]:
        """Do one action; a gymnasium 5-tuple."""
        session = self._begun()
        reply = self._portal.run(session.step(action))
        info = self._info(session, reply.success, reply.score)
        return self._seen(session), reply.reward, reply.terminated, reply.truncated, info

    def observation(self) -> Observation:
        """The latest observation."""
        return self._seen(self._begun())

    def available_actions(self) -> list[str] | None:
        """The actions that make sense now; None where they have no bound."""
        return self._portal.run(self._begun().available_actions())

    def close(self) -> None:
        """End the session; idempotent."""
        if self._finalizer.detach():
            self._portal.finish(_close(self._connection, self._held))

    def _connected(self) -> Connection:
        if not self._finalizer.alive:
            raise ClientClosed(f"the client of {self.source.env} is closed; make a new one")
        return self._connection

    def _begun(self) -> RemoteSession:
        self._connected()
        if self._held.session is None:
            raise StepBeforeReset(f"{self.source.env}: call reset() before the first step()")
        return self._held.session

    def _seen(self, session: RemoteSession) -> Observation:
        return self.source.observation(session.observation, session.image)

    def _info(self, session: RemoteSession, success: bool | None, score: float | None) -> dict[str, Any]:
        return {
            **session.info,
            "task": session.task.id,
            "episode": self._episode,
            "outcome": None if session.outcome is None else session.outcome.value,
            "success": success,
            "score": score,
        }

    def __getstate__(self) -> dict[str, Any]:
        return {"source": self.source, "spec": self.spec}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.source, self.spec = state["source"], state["spec"]
        self.observation_space = self.source.observation_space()
        self.action_space = FreeText()
        self._open()

    def __repr__(self) -> str:
        return f"EnvClient({self.source.env!r}, {self.source.base_url or 'this process'})"


async def _close(connection: Connection, held: Held) -> None:
    try:
        if held.session is not None:
            await held.session.close()
    finally:
        await connection.close()
