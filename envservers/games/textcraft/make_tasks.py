"""Writes `tasks.tsv`: `python -m envservers.games.textcraft.make_tasks`. A test holds that the file is what it writes.

A goal's template (its name with colour, wood and the like left open) belongs to one split, so no split has a goal of
another's in another colour. Within a split each task is another puzzle: its canonical form occurs once in the table.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from envservers.games.textcraft import table
from envservers.games.textcraft.tasks import canonical, seed_of, table_graph, table_world

QUOTAS = {
    "train": {1: 40, 2: 150, 3: 165, 4: 135, 5: 110},
    "dev": {1: 8, 2: 30, 3: 33, 4: 27, 5: 22},
    "test": {1: 8, 2: 30, 3: 33, 4: 27, 5: 22},
}
"""Tasks by split and depth; 5 stands for 5 and more."""

SHARE = {"test": 0.2, "dev": 0.2}
"""Of the templates at each depth; the rest are train's."""

SHORTEST, LONGEST = 3, 24
"""A goal that takes one get and one craft is no task, nor one whose plan is very long."""


@dataclass(frozen=True, slots=True, order=True)
class Row:
    """One line of the table."""

    split: str
    goal: str
    world: int
    steps: int
    """Of the planned solution."""


def make_rows() -> dict[str, list[Row]]:
    """The rows of each split in their order."""
    goals: dict[tuple[int, str], list[str]] = defaultdict(list)
    graph = table_graph()
    for goal in graph.makes:
        goals[min(graph.depth[goal], 5), table_world(0).makers(goal)[0].template].append(goal)
    splits = _split_templates(sorted(goals))
    seen: set[tuple[str, ...]] = set()
    made: dict[str, list[Row]] = {}
    for split, quota in QUOTAS.items():
        rows = []
        for depth, count in quota.items():
            candidates = _candidates(split, {t: goals[d, t] for d, t in splits[split] if d == depth}, seen)
            found = [row for row, _ in zip(candidates, range(count), strict=False)]
            if len(found) < count:
                raise ValueError(f"{split}: only {len(found)} of {count} tasks at depth {depth}")
            rows += found
        made[split] = sorted(rows, key=lambda row: _key("order", row))
    return made


def _split_templates(templates: list[tuple[int, str]]) -> dict[str, list[tuple[int, str]]]:
    splits: dict[str, list[tuple[int, str]]] = {split: [] for split in QUOTAS}
    for depth in sorted({depth for depth, _ in templates}):
        left = sorted((t for t in templates if t[0] == depth), key=lambda t: _key("split", t))
        sizes = {split: round(share * len(left)) for split, share in SHARE.items()}
        for split, size in sizes.items():
            splits[split] += left[:size]
            left = left[size:]
        splits["train"] += left
    return splits


def _candidates(split: str, goals: dict[str, list[str]], seen: set[tuple[str, ...]]) -> Iterator[Row]:
    """Rows in rounds, one of each template a round, each in another world; forms in `seen` are left out."""
    order = sorted(goals, key=lambda template: _key("template", template))
    for turn in range(table.WORLDS):
        for template in order:
            worlds = sorted(range(table.WORLDS), key=lambda world: _key("world", template, world))
            number = worlds[turn]
            goal = min(goals[template], key=lambda goal: _key("goal", goal, number))
            seed = seed_of({"goal": goal, "world": number})
            world = table_world(number)
            steps = world.plan(goal, seed).steps
            form = canonical(world, goal, seed)
            if SHORTEST <= steps <= LONGEST and form not in seen:
                seen.add(form)
                yield Row(split, goal, number, steps)


def _key(*what: object) -> bytes:
    return hashlib.sha256(repr(what).encode()).digest()


def render(made: dict[str, list[Row]]) -> str:
    """The text of `tasks.tsv`."""
    lines = ["# split\tindex\tworld\tsteps of the plan\tgoal"]
    for split, rows in made.items():
        lines += [f"{split}\t{i}\t{row.world}\t{row.steps}\t{row.goal}" for i, row in enumerate(rows)]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    Path(__file__).with_name("tasks.tsv").write_text(render(make_rows()), encoding="utf-8")
