"""A small env that draws: a canvas of one shade, where it is asked for pictures."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Generator
from typing import Any

from agentenv.env import Env
from agentenv.protocol import Action, StepResult, Task
from agentenv.registry import Concurrency, EnvSpec, Option, TableTasks

TASKS = 4


def png(shade: int, *, width: int = 32, height: int = 18) -> bytes:
    """A grey picture; equal arguments, equal bytes."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    pixels = zlib.compress((b"\x00" + bytes([shade]) * width) * height)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")


class Easel(Env):
    """`paint SHADE`; the shade of the task's number ends the episode. `smear` draws what is no picture."""

    def __init__(self, *, draws: bool = True) -> None:
        self.draws = draws

    def reset(self, task: Task) -> StepResult:
        self.wanted, self.shade = task.index + 1, 0
        return StepResult(observation=f"Paint {self.wanted}.", image=self._drawn())

    def step(self, action: Action) -> StepResult:
        if action.text == "smear":
            return StepResult(observation="Oh.", image=b"GIF89a" if self.images else None)
        word, _, shade = action.text.partition(" ")
        if word == "paint" and shade.isdecimal():
            self.shade = min(255, int(shade))
        done = self.shade == self.wanted
        return StepResult(
            observation=f"It is {self.shade}.",
            image=self._drawn(),
            reward=float(done),
            terminated=done,
            success=True if done else None,
        )

    def solve(self, task: Task) -> Generator[Action, StepResult, None]:
        yield Action(text="look")
        yield Action(text=f"paint {task.index + 1}")

    def _drawn(self) -> bytes | None:
        return png(self.shade) if self.images and self.draws else None


def tasks(options: dict[str, Any]) -> TableTasks:
    table = [Task(id=f"easel/test/{i}", env="easel", split="test", index=i) for i in range(TASKS)]
    return TableTasks(tables={"test": table}, version="1")


SPEC = EnvSpec(
    id="easel",
    version="1",
    gym_name="Easel-v0",
    title="Easel",
    entry="easel_env:Easel",
    tasks="easel_env:tasks",
    concurrency=Concurrency.ANY_THREAD,
    max_steps=4,
    images=True,
    success_rule="The canvas has the shade of the task.",
    action_grammar="paint SHADE\nlook",
    options=(Option(name="draws", type=bool, default=True, help="Whether it draws."),),
    last_action_decides=True,
)
