"""The vocabulary of the core: tasks, actions, results and how an episode ends.

Plain frozen dataclasses without third-party imports. What travels over a wire has its own types in `agentenv.wire`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

PROTOCOL_VERSION = "1.0"
"""Version of the HTTP protocol under `/v1`; within v1 there are only additions."""


class Outcome(StrEnum):
    """How an episode ended. Ask its properties instead of comparing names."""

    SUCCESS = "success"  # the env's own rule says so
    FAILURE = "failure"  # the env ended it without success
    STEP_LIMIT = "step_limit"  # the session stopped it at max_steps
    TIME_LIMIT = "time_limit"  # the agent's own time used the limit up (env time is never counted)
    CONTEXT_FULL = "context_full"  # the prompt outgrew the model's window
    AGENT_ERROR = "agent_error"  # the agent crashed, refused or hit its cost cap
    ENV_ERROR = "env_error"  # the environment broke
    INFRA_LOST = "infra_lost"  # server, network or model endpoint lost
    CANCELLED = "cancelled"  # somebody stopped the run

    @property
    def terminated(self) -> bool:
        """The environment's own end."""
        return self in (Outcome.SUCCESS, Outcome.FAILURE)

    @property
    def truncated(self) -> bool:
        """Somebody stopped a running episode, and the stop is part of the measurement."""
        return self in (Outcome.STEP_LIMIT, Outcome.TIME_LIMIT, Outcome.CONTEXT_FULL, Outcome.AGENT_ERROR)

    @property
    def valid(self) -> bool:
        """Whether the episode stands in the denominator of a score."""
        return self.terminated or self.truncated

    @property
    def trains(self) -> bool:
        """Whether a trainer may learn from the episode."""
        return self.terminated or self in (Outcome.STEP_LIMIT, Outcome.CONTEXT_FULL)

    @property
    def bootstraps(self) -> bool:
        """Whether a trainer adds the value of the state after the last action (only a step limit)."""
        return self is Outcome.STEP_LIMIT


CUT_BY_ROLLOUT = frozenset(
    {Outcome.CONTEXT_FULL, Outcome.AGENT_ERROR, Outcome.TIME_LIMIT, Outcome.INFRA_LOST, Outcome.CANCELLED}
)
"""Outcomes that a rollout may set when it ends a running episode; all others are the session's to set."""


UNPROVEN = "unproven"
"""Category of a task that no scripted solution solves: kept only where the numbering of a reference wants it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskRef:
    """What is known of a task outside the process that runs it: no seed, no payload, hence no answer."""

    id: str
    """`{env}/{split}/{index}`, such as `textcraft/test/12`."""
    env: str
    split: str
    index: int
    category: str = ""
    difficulty: int = 0
    """1 is the easiest; 0 says that the env does not grade its tasks."""
    template: str = ""
    digest: str = ""
    """sha256 over the whole task, seed and payload included; two tasks with one digest are the same task."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One task of an env, with everything that its world is made from. Stays in the process that runs the env."""

    id: str
    env: str
    split: str
    index: int
    category: str = ""
    difficulty: int = 0
    template: str = ""
    seed: int = 0
    payload: Mapping[str, Any] = field(default_factory=dict)
    """JSON values only; may hold the answer."""
    max_steps: int | None = None
    """A limit of this task's own; the smallest of this, the card's and the one asked for holds."""

    def ref(self) -> TaskRef:
        """The part that may travel and be stored."""
        return TaskRef(
            id=self.id,
            env=self.env,
            split=self.split,
            index=self.index,
            category=self.category,
            difficulty=self.difficulty,
            template=self.template,
            digest=self.digest,
        )

    @property
    def digest(self) -> str:
        """sha256 hex over the canonical JSON of every field."""
        return digest_of([getattr(self, name) for name in self.__dataclass_fields__])


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """What an agent sends: the text, and why it is no action when the completion could not be parsed."""

    text: str
    malformed: str | None = None
    """The reason; the session then answers with the env's text for it and never calls `Env.step`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepResult:
    """What an env answers to `reset` and `step`."""

    observation: str
    image: bytes | None = None
    """PNG bytes."""
    reward: float = 0.0
    """Of this step alone, inside `EnvSpec.reward_range`; an episode's return is the sum."""
    terminated: bool = False
    success: bool | None = None
    """Required with `terminated`; None while the episode runs."""
    score: float | None = None
    """A raw score on the env's own scale (ScienceWorld's -100..100); None where there is none."""
    info: Mapping[str, Any] = field(default_factory=dict)
    """JSON values, at most 64 KB."""


def canonical_json(value: object) -> str:
    """JSON with sorted keys and no blanks: equal values, equal text, in any process."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def digest_of(value: object) -> str:
    """sha256 hex over the canonical JSON of `value`."""
    return hashlib.sha256(canonical_json(value).encode("utf-8", "surrogatepass")).hexdigest()


def index_of_seed(split: str, seed: int, count: int) -> int:
    """The task index that `{split, seed}` names: sha256 of both, modulo the number of tasks."""
    return int.from_bytes(hashlib.sha256(f"{split}:{seed}".encode()).digest()[:8], "big") % count
