"""What an environment author writes.

`Env` is one world: many episodes, one at a time. `reset(task)`, `step` to the end, `reset` again or `close`.

Rules that `agentenv check` holds an env to:

- Everything random comes from the task (`task.seed`, `task.payload`): equal task, equal bytes, in any process.
- A wrong action by the model is an observation. A wrong call by a program is an exception.
- An env never truncates. Out of the game's own tries is `terminated=True, success=False`; limits of steps and time
  belong to the session.
- `success` is the env's own rule and required with `terminated`; `reward` is per step, inside the card's range.
- One object serves one session and many resets, also in mid-episode and after an error (else `EnvSpec.reuse=False`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Generator

from agentenv.protocol import Action, Outcome, StepResult, Task


class _Session:
    """What the session keeps on an env; authors read it and never write it."""

    steps: int = 0
    """Steps of this episode so far, malformed ones too; inside `step` the running one is not counted yet."""
    last: StepResult = StepResult(observation="")
    """The latest result of `reset` or `step`."""
    images: bool = False
    """Whether this session asked for images; an env that draws leaves them out otherwise."""


class Env(_Session, ABC):
    """An environment with ordinary methods. Options arrive as keyword arguments of the constructor."""

    @abstractmethod
    def reset(self, task: Task) -> StepResult:
        """Start an episode of `task`; the result carries the first observation."""

    @abstractmethod
    def step(self, action: Action) -> StepResult:
        """Do one action. Never called with a malformed one: the session answers those."""

    def available_actions(self) -> list[str] | None:
        """Every action that makes sense now, or None where they have no bound. Changes nothing; may be slow."""
        return None

    def solve(self, task: Task) -> Generator[Action, StepResult, None]:
        """A scripted solution: `self.last` is reset's result, the result of each yielded action is sent in.

        May read the env, never change it. Needed by the oracle agent, by `agentenv check` and by warm starts.
        """
        raise NotImplementedError(f"{type(self).__name__} has no solve()")

    def finish(self, reason: Outcome) -> StepResult | None:
        """Score an episode that is being cut: its reward is added to the last step's, success and score replace."""
        return None

    def snapshot(self) -> object:
        """The whole state, for `restore` on a fresh Env of the same process. Optional."""
        raise NotImplementedError(f"{type(self).__name__} has no snapshot()")

    def restore(self, snapshot: object) -> None:
        """Take over a state that `snapshot` returned. Optional."""
        raise NotImplementedError(f"{type(self).__name__} has no restore()")

    def close(self) -> None:
        """Free what the env holds. Called at least once; a second call does nothing."""


class AsyncEnv(_Session, ABC):
    """The same contract with `async def`, for envs that wait on I/O (concurrency model `async`)."""

    @abstractmethod
    async def reset(self, task: Task) -> StepResult:
        """See `Env.reset`."""

    @abstractmethod
    async def step(self, action: Action) -> StepResult:
        """See `Env.step`."""

    async def available_actions(self) -> list[str] | None:
        """See `Env.available_actions`."""
        return None

    def solve(self, task: Task) -> AsyncGenerator[Action, StepResult]:
        """See `Env.solve`; an async generator here."""
        raise NotImplementedError(f"{type(self).__name__} has no solve()")

    async def finish(self, reason: Outcome) -> StepResult | None:
        """See `Env.finish`."""
        return None

    async def snapshot(self) -> object:
        """See `Env.snapshot`."""
        raise NotImplementedError(f"{type(self).__name__} has no snapshot()")

    async def restore(self, snapshot: object) -> None:
        """See `Env.restore`."""
        raise NotImplementedError(f"{type(self).__name__} has no restore()")

    async def close(self) -> None:
        """See `Env.close`."""
