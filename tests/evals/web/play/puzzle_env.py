"""A small env to play: say the word. Its texts try to be HTML and terminal codes."""

from __future__ import annotations

import zlib
from collections.abc import Generator
from typing import Any

from agentenv.env import Env
from agentenv.protocol import Action, Outcome, StepResult, Task
from agentenv.registry import Concurrency, EnvSpec, Option, TableTasks

HOSTILE = "<img src=x onerror=alert(1)><b>bold</b> \x1b[31mred\x1b[0m"
TASKS = 40


def _png() -> bytes:
    """One grey pixel."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return len(data).to_bytes(4, "big") + kind + data + zlib.crc32(kind + data).to_bytes(4, "big")

    header = b"\x00\x00\x00\x01\x00\x00\x00\x01\x08\x00\x00\x00\x00"
    pixels = zlib.compress(b"\x00\x80")
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")


PNG = _png()


class Puzzle(Env):
    """`say WORD`; `list` shows what can be said, `break` raises."""

    def __init__(self, *, mode: str = "auto") -> None:
        self.mode = mode

    def reset(self, task: Task) -> StepResult:
        if self.mode == "broken" or task.index == 13:
            raise RuntimeError("the puzzle fell apart")
        self.word = task.payload["word"]
        return StepResult(observation=f"Which word? {HOSTILE}", image=PNG)

    def step(self, action: Action) -> StepResult:
        if action.text == "break":
            raise RuntimeError("the puzzle fell apart")
        if action.text == "list":
            return StepResult(observation=f"Available actions: {', '.join(self.available_actions() or [])}", image=PNG)
        if action.text != f"say {self.word}":
            return StepResult(observation=f"Not {action.text}.", image=PNG, info={"refused": "no such word"})
        checks = [{"check": "word", "passed": True}]
        return StepResult(
            observation="Right.", reward=1.0, terminated=True, success=True, score=7.0, info={"checks": checks}
        )

    def finish(self, reason: Outcome) -> StepResult | None:
        return StepResult(observation="", reward=0.25, success=False, score=1.0, info={"checks": ["never said"]})

    def available_actions(self) -> list[str] | None:
        return ["say odd", "say even"]

    def solve(self, task: Task) -> Generator[Action, StepResult, None]:
        yield Action(text=f"say {self.word}")


class Unbounded(Puzzle):
    """The same without a list."""

    def available_actions(self) -> list[str] | None:
        return None


def tasks(options: dict[str, Any]) -> TableTasks:
    def table(split: str) -> list[Task]:
        return [
            Task(
                id=f"puzzle/{split}/{i}",
                env="puzzle",
                split=split,
                index=i,
                category="words",
                difficulty=2,
                payload={"word": "odd" if i % 2 else "even"},
            )
            for i in range(TASKS)
        ]

    return TableTasks(tables={"train": table("train"), "test": table("test")}, version="1")


SPEC = EnvSpec(
    id="puzzle",
    version="1",
    gym_name="Puzzle-v0",
    title="Say the word",
    entry="puzzle_env:Puzzle",
    tasks="puzzle_env:tasks",
    concurrency=Concurrency.INLINE,
    max_steps=6,
    success_rule="The word of the task is said.",
    action_grammar="say WORD\nlist",
    images=True,
    options=(
        Option(
            name="mode",
            type=str,
            default="auto",
            help="broken: raises; plain: does not.",
            choices=("auto", "broken", "plain"),
            unsettled=("auto",),
        ),
    ),
)
