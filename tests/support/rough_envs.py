"""Environments that misbehave when their action says so, one for each concurrency model.

A `Gate` holds a step, in whatever process it runs, until the test opens it: tests assert orders of events, not times.
"""

import asyncio
import contextlib
import os
import subprocess
import sys
import threading
import time
from collections import Counter as Counts
from collections.abc import AsyncGenerator, Generator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from toy_envs import tasks_of

from agentenv.env import AsyncEnv, Env
from agentenv.protocol import Action, Outcome, StepResult, Task
from agentenv.registry import Concurrency, EnvSpec, Option, TableTasks

CLOSED: Counts[int] = Counts()
"""Closed envs of this process, by task seed."""

POLL_S = 0.003


class Gate:
    """A file: an env that does `hold` waits until it is there."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.hold = f"hold {path}"

    def open(self) -> None:
        """Let the held step go on."""
        self.path.touch()

    async def entered(self) -> None:
        """Wait until a step is held here."""
        while not Path(f"{self.path}.in").exists():
            await asyncio.sleep(POLL_S)


class Rough(Env):
    """Says where it runs and does what its action says; `win` and `lose` end the episode."""

    def reset(self, task: Task) -> StepResult:
        self.seed = task.seed
        return StepResult(observation=f"ready {self.seed}")

    def step(self, action: Action) -> StepResult:
        match action.text.split(" ", 1):
            case ["hold", path]:
                Path(f"{path}.in").touch()
                while not os.path.exists(path):
                    time.sleep(POLL_S)
            case ["burn", ms]:
                until = time.thread_time() + float(ms) / 1000
                while time.thread_time() < until:
                    pass
            case ["sleep", ms]:
                time.sleep(float(ms) / 1000)
        return answer(action.text)

    def available_actions(self) -> list[str] | None:
        return ["wait", "odd \ud800"]

    def solve(self, task: Task) -> Generator[Action, StepResult, None]:
        yield Action(text="win")

    def close(self) -> None:
        with contextlib.suppress(AttributeError):
            CLOSED[self.seed] += 1


class SlowReset(Rough):
    """Its reset waits for the gate of its option."""

    def __init__(self, *, gate: str) -> None:
        self.gate = gate

    def reset(self, task: Task) -> StepResult:
        self.step(Action(text=f"hold {self.gate}"))
        return super().reset(task)


class SlowAsk(Rough):
    """Its available actions, and its solution, wait for the gate that its last action named."""

    def available_actions(self) -> list[str] | None:
        self.step(Action(text=self.last.observation.removeprefix("did ")))
        return None

    def step(self, action: Action) -> StepResult:
        if action.text.startswith("later "):
            return StepResult(observation=f"did hold {action.text.removeprefix('later ')}")
        return super().step(action)


class AsyncRough(AsyncEnv):
    """The same, awaited. `stubborn PATH` holds on even when it is cancelled."""

    async def reset(self, task: Task) -> StepResult:
        self.seed = task.seed
        return StepResult(observation=f"ready {self.seed}")

    async def step(self, action: Action) -> StepResult:
        match action.text.split(" ", 1):
            case ["hold" | "stubborn" as how, path]:
                Path(f"{path}.in").touch()
                while not os.path.exists(path):
                    try:
                        await asyncio.sleep(POLL_S)
                    except asyncio.CancelledError:
                        if how == "hold":
                            raise
            case ["cancelled"]:
                raise asyncio.CancelledError
        return answer(action.text)

    async def available_actions(self) -> list[str] | None:
        return ["wait", "odd \ud800"]

    async def solve(self, task: Task) -> AsyncGenerator[Action, StepResult]:
        yield Action(text="win")

    async def close(self) -> None:
        with contextlib.suppress(AttributeError):
            CLOSED[self.seed] += 1


class Sour(Env):
    """Cannot be reset to task 666."""

    def reset(self, task: Task) -> StepResult:
        if task.seed == 666:
            raise RuntimeError("not this one")
        return StepResult(observation=f"task {task.seed}")

    def step(self, action: Action) -> StepResult:
        return StepResult(observation="here", info={"n": 1})


class BadFinish(Rough):
    """Breaks when it is to score a cut episode."""

    def finish(self, reason: Outcome) -> StepResult | None:
        raise RuntimeError("no score")


def answer(text: str) -> StepResult:
    """What every model answers to an action that does not hold it."""
    match text.split(" ", 1):
        case ["win"]:
            return StepResult(observation="won", reward=1.0, terminated=True, success=True)
        case ["lose"]:
            return StepResult(observation="lost", terminated=True, success=False)
        case ["raise"]:
            raise RuntimeError("the env broke")
        case ["babble", size]:
            raise RuntimeError("long " * int(size))
        case ["exit"]:
            sys.exit(7)
        case ["die"]:
            os._exit(3)
        case ["where"]:
            return StepResult(observation=f"{os.getpid()} {threading.current_thread().name}")
        case ["read"]:
            return StepResult(observation=f"read {sys.stdin.read()!r}")
        case ["print"]:
            print("the env prints")
        case ["spawn"]:
            child = subprocess.Popen(["sleep", "1000"])
            child.returncode = 0  # nobody waits for it here
            return StepResult(observation=str(child.pid))
        case ["huge"]:
            return StepResult(observation="huge", info={"n": 2**70})
        case ["odd"]:
            return StepResult(observation="a\ud800b\x00c", info={"t": ["\udfff"], "\udc00": 1})
    return StepResult(observation=f"did {text}")


def limited_tasks(options: Mapping[str, Any]) -> TableTasks:
    """Tasks of which the first allows two steps, the second a hundred."""
    first, second = tasks_of("toy_inline", 2).tables["train"]
    train = [replace(first, max_steps=2), replace(second, max_steps=100)]
    return TableTasks(tables={"train": train, "test": []}, version="1")


def broken_set(options: Mapping[str, Any]) -> TableTasks:
    """A factory with a mistake."""
    return options["goal_"]  # type: ignore[no-any-return]


def spec(id: str, entry: str, concurrency: Concurrency, **changes: Any) -> EnvSpec:
    """The spec of a rough env."""
    return EnvSpec(
        **{
            "id": id,
            "version": "1",
            "gym_name": f"{id.title().replace('_', '')}-v0",
            "title": id,
            "entry": f"rough_envs:{entry}",
            "tasks": f"rough_envs:{id}_tasks",
            "concurrency": concurrency,
            "max_steps": 100,
            "success_rule": "the action win",
            "action_grammar": "any text",
            **changes,
        }
    )


SPECS = {
    s.id: s
    for s in (
        spec("rough_inline", "Rough", Concurrency.INLINE),
        spec("rough_thread", "Rough", Concurrency.ANY_THREAD),
        spec("rough_locked", "Rough", Concurrency.LOCKED),
        spec("rough_process", "Rough", Concurrency.PROCESS),
        spec("rough_async", "AsyncRough", Concurrency.ASYNC),
        spec("rough_ask", "SlowAsk", Concurrency.ANY_THREAD),
        spec(
            "rough_reset",
            "SlowReset",
            Concurrency.ANY_THREAD,
            options=(Option(name="gate", type=str, default="", help="path of the gate"),),
        ),
    )
}


def __getattr__(name: str) -> Any:
    if name.endswith("_tasks"):
        return lambda options: tasks_of(name.removesuffix("_tasks"))
    raise AttributeError(name)
