"""Where a client's episodes come from: the env, its options, its split, and how a task is chosen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from agentenv.client.connect import remote
from agentenv.client.core import Connection
from agentenv.client.portal import Portal
from agentenv.client.spaces import FreeText, PngImage
from agentenv.client.url import env_path
from agentenv.errors import AgentEnvError, BadCall, EnvUnavailable, ResetNeeded, UnknownTask
from agentenv.registry import TaskAt, get_spec

Observation = str | dict[str, Any]


class StepBeforeReset(ResetNeeded, gymnasium.error.ResetNeeded):
    """A step before the first reset; caught by this project's class and by gymnasium's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """What a client was asked for; enough to open it again in another process."""

    env: str
    base_url: str | None = None
    split: str = "train"
    task: str | int | dict[str, Any] | None = None
    max_steps: int | None = None
    token: str | None = field(default=None, repr=False)
    images: bool = False
    transport: str = "websocket"
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.max_steps is not None and self.max_steps < 1:
            raise BadCall(f"max_steps is {self.max_steps}; it must be at least 1")

    def observation_space(self) -> spaces.Space[Any]:
        """Free text, or with images a Dict of text and PNG."""
        if self.images:
            return spaces.Dict({"text": FreeText(), "image": PngImage()})
        return FreeText()

    def observation(self, text: str, image: bytes | None) -> Observation:
        """A member of the observation space."""
        return {"text": text, "image": image or b""} if self.images else text

    async def connect(self, portal: Portal) -> tuple[Connection, Card]:
        """A connection, and what the env's card says; UnknownEnv, UnknownTask or ServerUnreachable."""
        if self.base_url is None:
            spec = get_spec(self.env)
            tasks = spec.task_set(self.options)
            card = Card({split: tasks.count(split) for split in tasks.splits()})
            connection = Connection(await portal.local())
        else:
            connection = Connection(remote(self.base_url, token=self.token, transport=self.transport))
            try:
                card = card_of(await connection.get_json(env_path(self.env, options=self.options)))
            except BaseException:
                await connection.close()
                raise
        return connection, card

    def choose(self, card: Card, rng: np.random.Generator, wanted: Any = None) -> str | TaskAt:
        """The task of a reset: the one asked for, else the constructor's, else one drawn from `rng`."""
        if wanted is None:
            wanted = self.task
        if wanted is None:
            if self.split not in card.splits:
                raise UnknownTask(f"{self.env} has no split {self.split!r}; it has {', '.join(card.splits)}")
            return TaskAt(split=self.split, index=int(rng.integers(card.splits[self.split])))
        if isinstance(wanted, (int, np.integer)) and not isinstance(wanted, bool):
            return TaskAt(split=self.split, index=int(wanted))
        if isinstance(wanted, Mapping):
            if not set(wanted) <= {"split", "index", "seed"}:
                raise BadCall(f"task {wanted!r}: give an id, an index, or {{'split': ..., 'index': ...}}")
            return TaskAt(**{"split": self.split, **wanted})
        if isinstance(wanted, str):
            return wanted
        raise BadCall(f"task {wanted!r}: give an id, an index, or {{'split': ..., 'index': ...}}")


@dataclass(frozen=True, slots=True)
class Card:
    """What a client needs of an env's card."""

    splits: Mapping[str, int]


def card_of(found: Any) -> Card:
    """What a server's JSON says about an env."""
    if isinstance(found, dict) and "unavailable" in found:
        raise EnvUnavailable(str(found["unavailable"]))
    if not isinstance(found, dict) or not isinstance(found.get("splits"), dict):
        raise AgentEnvError(f"not an environment's card, so no agentenv server: {str(found)[:200]}")
    return Card(found["splits"])
