"""Tasks of Maze: generated mazes in three splits that share no layout, and the double-T maze as a split of its own."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from agentenv.protocol import Task
from agentenv.registry import TableTasks
from envservers.games.maze import double_t
from envservers.games.maze.generate import STYLES, Maze, generate
from envservers.games.maze.layout import canonical, distances

VERSION = "1"
"""Of the generator; part of every seed."""
COUNTS = {"train": 1000, "dev": 100, "test": 300}
"""Generated tasks of each split."""
LEVELS = (1.1, 1.25, 1.6)
"""Difficulty 2, 3 and 4 begin where the shortest path is this many times its least length, 2 x size."""


def make_tasks(options: Mapping[str, Any]) -> TableTasks:
    """Generated splits for the options `size` and `path`, and `double_t`."""
    tables = {**_generated(options["size"], options["path"]), "double_t": _double_t()}
    return TableTasks(tables=tables, version=VERSION, options=options)


@cache
def _generated(size: int, path: str) -> dict[str, list[Task]]:
    """The generated splits; kept, because they take up to a second and are the same for both observations."""
    mazes = _different_mazes(size, path)
    made = {split: [next(mazes) for _ in range(COUNTS[split])] for split in ("test", "dev", "train")}
    return {
        split: [_task(split, i, style, seed, maze) for i, (style, seed, maze) in enumerate(made[split])]
        for split in COUNTS
    }


def _different_mazes(size: int, path: str) -> Iterator[tuple[str, int, Maze]]:
    """Style, seed and maze without end; no layout comes twice, turned and mirrored copies included."""
    seen: set[str] = set()
    number = 0
    while True:
        style = STYLES[len(seen) % len(STYLES)]
        seed = int.from_bytes(hashlib.sha256(f"maze {VERSION} {size} {number}".encode()).digest()[:6], "big")
        number += 1
        maze = generate(size, style, random.Random(seed), path)
        if (form := canonical(maze.rows)) not in seen:
            seen.add(form)
            yield style, seed, maze


def _task(split: str, index: int, style: str, seed: int, maze: Maze) -> Task:
    ratio = maze.shortest / (2 * len(maze.rows))
    return Task(
        id=f"maze/{split}/{index}",
        env="maze",
        split=split,
        index=index,
        category=style,
        difficulty=1 + sum(ratio >= level for level in LEVELS),
        seed=seed,
        payload={"rows": list(maze.rows), "start": list(maze.start), "goal": list(maze.goal)},
        max_steps=2 * max(maze.shortest, len(maze.rows)),
    )


def _double_t() -> list[Task]:
    rows = double_t.layout()
    moves = distances(rows, double_t.GOAL)
    return [
        Task(
            id=f"maze/double_t/{index}",
            env="maze",
            split="double_t",
            index=index,
            category="double_t",
            difficulty=1 + (moves[start] > 3) + (moves[start] > 6) + (moves[start] > 9),
            payload={"rows": list(rows), "start": list(start), "goal": list(double_t.GOAL)},
            max_steps=double_t.MAX_STEPS,
        )
        for index, start in enumerate(double_t.STARTS)
    ]
