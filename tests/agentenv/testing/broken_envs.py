"""A good toy env, and one that is broken for each rule of the contract, by exactly that rule."""

from __future__ import annotations

import os
import threading
from collections.abc import AsyncGenerator, Generator
from dataclasses import replace
from typing import Any, ClassVar

from agentenv.env import AsyncEnv, Env
from agentenv.errors import EpisodeOver, ResetNeeded
from agentenv.protocol import Action, StepResult, Task
from agentenv.registry import Concurrency, EnvSpec, Option, TableTasks

TRIES = 12


class Count(Env):
    """Bring a number to the target by `up` and `down` within 12 tries; reward 1.0 then, else 0.0."""

    def __init__(self, *, stride: int = 1) -> None:
        self.stride = stride
        self.target: int | None = None  # None until reset()

    def reset(self, task: Task) -> StepResult:
        self.target, self.value, self.tries, self.over = task.payload["target"], 0, 0, False
        return StepResult(observation=f"0 of {self.target}", info={"tries": 0})

    def step(self, action: Action) -> StepResult:
        if self.target is None:
            raise ResetNeeded("step() before reset(); call reset(task) first")
        if self.over:
            raise EpisodeOver("the count has ended; reset or close")
        self.tries += 1
        move = {"up": self.stride, "down": -self.stride}.get(action.text, 0)
        self.value += move
        return self.result(self.say(action.text, move))

    def say(self, text: str, move: int) -> str:
        return f"{self.value} of {self.target}" if move else f"Unknown action {text[:20]!r}."

    def result(self, text: str) -> StepResult:
        success = self.value == self.target
        self.over = success or self.tries == TRIES
        return StepResult(
            observation=text,
            reward=float(success),
            terminated=self.over,
            success=success if self.over else None,
            info={"tries": self.tries},
        )

    def available_actions(self) -> list[str] | None:
        return ["up", "down"]

    def solve(self, task: Task) -> Generator[Action, StepResult, None]:
        text = "up" if task.payload["target"] > 0 else "down"
        for _ in range(abs(task.payload["target"]) // self.stride):
            yield Action(text=text)

    def snapshot(self) -> object:
        return self.target, self.value, self.tries, self.over

    def restore(self, snapshot: object) -> None:
        assert isinstance(snapshot, tuple)
        self.target, self.value, self.tries, self.over = snapshot


class AsyncCount(AsyncEnv):
    """The same game with `async def`."""

    def __init__(self, *, stride: int = 1) -> None:
        self._game = Count(stride=stride)

    async def reset(self, task: Task) -> StepResult:
        return self._game.reset(task)

    async def step(self, action: Action) -> StepResult:
        return self._game.step(action)

    async def available_actions(self) -> list[str] | None:
        return self._game.available_actions()

    async def solve(self, task: Task) -> AsyncGenerator[Action, StepResult]:
        for action in self._game.solve(task):
            yield action

    async def snapshot(self) -> object:
        return self._game.snapshot()

    async def restore(self, snapshot: object) -> None:
        self._game.restore(snapshot)


def make_tasks(options: dict[str, Any]) -> TableTasks:
    """Targets by split; all even, so that a stride of 2 meets them."""
    targets = {"train": (2, 4, 6, 8, 10), "dev": (-2, -4), "test": (-6, -8)}
    return TableTasks(tables={s: [_task(s, i, t) for i, t in enumerate(targets[s])] for s in targets}, version="1")


def _task(split: str, index: int, target: int) -> Task:
    return Task(
        id=f"count/{split}/{index}",
        env="count",
        split=split,
        index=index,
        difficulty=1 + (abs(target) > 4),
        seed=target,
        payload={"target": target},
    )


GOOD = EnvSpec(
    id="count",
    version="1",
    gym_name="Count-v0",
    title="Count to a target",
    entry="broken_envs:Count",
    tasks="broken_envs:make_tasks",
    concurrency=Concurrency.INLINE,
    max_steps=20,
    success_rule="the number is the target within 12 tries",
    action_grammar="up\ndown",
    options=(Option(name="stride", type=int, default=1, help="what a step adds", choices=(1, 2)),),
    snapshots=True,
)
ASYNC = replace(GOOD, entry="broken_envs:AsyncCount", concurrency=Concurrency.ASYNC)


def again_tasks(options: dict[str, Any]) -> TableTasks:
    """The same tasks for an env of another id."""
    made = make_tasks(options)
    tables = {
        s: [replace(t, env=AGAIN.id, id=f"{AGAIN.id}/{s}/{t.index}") for t in made.tables[s]] for s in made.tables
    }
    return TableTasks(tables=tables, version="1")


AGAIN = replace(GOOD, id="count_again", tasks="broken_envs:again_tasks")


# One a rule.


class Picky(Count):
    """options_are_validated: it does not take a choice that the card offers."""

    def __init__(self, *, stride: int = 1) -> None:
        if stride != 1:
            raise ValueError("only a stride of 1 is built")
        super().__init__(stride=stride)


class HashSeeded(Count):
    """same_bytes_elsewhere: what it says hangs on the process's hash seed."""

    def say(self, text: str, move: int) -> str:
        return f"{super().say(text, move)} {'heads' if hash(str(self.value)) % 2 else 'tails'}"


class Curious(Count):
    """asking_changes_nothing: it tells how often the actions were listed."""

    asked = 0

    def available_actions(self) -> list[str] | None:
        self.asked += 1
        return super().available_actions()

    def say(self, text: str, move: int) -> str:
        return f"{super().say(text, move)} You asked {self.asked} times."

    def reset(self, task: Task) -> StepResult:
        self.asked = 0
        return super().reset(task)

    def snapshot(self) -> object:
        return super().snapshot(), self.asked

    def restore(self, snapshot: object) -> None:
        assert isinstance(snapshot, tuple)
        super().restore(snapshot[0])
        self.asked = snapshot[1]


class Strict(Count):
    """odd_actions_answered: raises for an unknown action."""

    def step(self, action: Action) -> StepResult:
        if self.target is not None and not self.over and action.text not in ("up", "down", "noop"):
            raise ValueError(f"unknown action {action.text!r}")
        return super().step(action)


class CountsItself(Count):
    """malformed_actions_count: writes the session's own count of steps."""

    def step(self, action: Action) -> StepResult:
        result = super().step(action)
        self.steps = self.tries - 1
        return result


class Eager(Count):
    """calls_out_of_order: plays before the first reset."""

    def step(self, action: Action) -> StepResult:
        if self.target is None:
            return StepResult(observation="0 of nothing")
        return super().step(action)


class Generous(Count):
    """calls_out_of_order: goes on after the end."""

    def step(self, action: Action) -> StepResult:
        if self.target is not None and self.over:
            return StepResult(observation="still here", reward=1.0, terminated=True, success=True)
        return super().step(action)


class ClosesOnce(Count):
    """close_twice: the second close fails."""

    closed = False

    def close(self) -> None:
        if self.closed:
            raise RuntimeError("already closed")
        self.closed = True


class Remembers(Count):
    """reset_in_mid_episode: tries of an unfinished episode are kept."""

    def reset(self, task: Task) -> StepResult:
        unfinished = self.tries if self.target is not None and not self.over else 0
        result = super().reset(task)
        self.tries = min(unfinished, 1)
        return result


class Shared(Count):
    """sessions_are_apart: what it says counts the moves of all objects since the last reset of any."""

    moves: ClassVar[list[str]] = []

    def reset(self, task: Task) -> StepResult:
        self.moves.clear()
        return super().reset(task)

    def step(self, action: Action) -> StepResult:
        self.moves.append(action.text)
        return super().step(action)

    def say(self, text: str, move: int) -> str:
        return f"{super().say(text, move)} Move {len(self.moves)}."


class Unsolved(Count):
    """solve_succeeds: the solution stops one step short."""

    def solve(self, task: Task) -> Generator[Action, StepResult, None]:
        for action in list(super().solve(task))[:-1]:  # noqa: UP028 (a list takes no send)
            yield action


class Overpaid(Count):
    """rewards_in_range: each reward is in range, their sum is not."""

    def result(self, text: str) -> StepResult:
        return replace(super().result(text), reward=0.75)


class Aliased(Count):
    """snapshots_restore: copies share one state."""

    def snapshot(self) -> object:
        return self.__dict__

    def restore(self, snapshot: object) -> None:
        self.__dict__ = snapshot  # type: ignore[assignment]


class NoJson(Count):
    """replies_are_json: info holds a set."""

    def result(self, text: str) -> StepResult:
        result = super().result(text)
        return replace(result, info={"seen": {self.value}}) if self.over else result


class Hoarder(Count):
    """sessions_leave_nothing: every episode leaves 256 KB behind."""

    kept: ClassVar[list[bytes]] = []

    def reset(self, task: Task) -> StepResult:
        self.kept.append(os.urandom(256 * 1024))
        return super().reset(task)


class Threaded(Count):
    """sessions_leave_nothing: every object starts a thread and close leaves it."""

    enough = threading.Event()

    def __init__(self, *, stride: int = 1) -> None:
        super().__init__(stride=stride)
        threading.Thread(target=self.enough.wait, daemon=True).start()


def hashed_tasks(options: dict[str, Any]) -> TableTasks:
    """tasks_are_stable: seeds are made by `hash`."""
    made = make_tasks(options)
    tables = {s: [replace(t, seed=hash(t.id) % 2**32) for t in table] for s, table in made.tables.items()}
    return TableTasks(tables=tables, version="1")


def overlapping_tasks(options: dict[str, Any]) -> TableTasks:
    """splits_are_disjoint: a train task comes again in test, under another id."""
    made = make_tasks(options)
    again = replace(made.get("train", 1), id="count/test/2", split="test", index=2)
    return TableTasks(tables={**made.tables, "test": [*made.tables["test"], again]}, version="1")


BROKEN: list[tuple[str, EnvSpec]] = [
    ("card_is_sound", replace(GOOD, malformed_text="Invalid action.")),
    ("tasks_are_stable", replace(GOOD, tasks="broken_envs:hashed_tasks")),
    ("splits_are_disjoint", replace(GOOD, tasks="broken_envs:overlapping_tasks")),
    # Two objects of one task see each other in every rule that holds two; without snapshots only this one does.
    ("sessions_are_apart", replace(GOOD, entry="broken_envs:Shared", snapshots=False)),
    *(
        ((cls.__doc__ or "").partition(":")[0], replace(GOOD, entry=f"broken_envs:{cls.__name__}"))
        for cls in (
            Picky,
            HashSeeded,
            Curious,
            Strict,
            CountsItself,
            Eager,
            Generous,
            ClosesOnce,
            Remembers,
            Unsolved,
            Overpaid,
            Aliased,
            NoJson,
            Hoarder,
            Threaded,
        )
    ),
]
"""The rule that breaks, and the spec that breaks it."""
