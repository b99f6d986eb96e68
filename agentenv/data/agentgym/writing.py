"""A folder of AgentGym's data as what this project reads: a suite, lists of tasks to train on, and records."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agentenv.data.agentgym.files import EVAL
from agentenv.data.agentgym.items import Item
from agentenv.protocol import TaskRef, canonical_json
from agentenv.trajectory import Trajectory, write_jsonl

ITEMS, SUITE, TRAINING, RECORDS = "items.jsonl", "suite.yaml", "train.yaml", "trajectories.jsonl"
TASKS = "tasks"
"""Folder of the lists of tasks to train on."""
LONGEST_LABEL = 40
_ODD = re.compile(r"[^A-Za-z0-9_.-]+")


@dataclass(slots=True, kw_only=True)
class Group:
    """Tasks that one entry of a suite, or of training, plays."""

    env: str
    split: str
    options: Mapping[str, Any]
    category: str
    rounds: int
    tasks: list[TaskRef] = field(default_factory=list)

    def entry(self) -> dict[str, Any]:
        """What suites and training settings both say of it."""
        options = {"options": dict(self.options)} if self.options else {}
        return {"env": self.env, "split": self.split, "max_steps": self.rounds, **options}


def write(
    folder: Path, items: Sequence[Item], records: Sequence[Trajectory], *, final: Path, name: str, stand_ins: bool
) -> None:
    """Fill an empty folder, which will lie at `final`: training settings name lists by their paths there."""
    with (folder / ITEMS).open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(item.to_json(), ensure_ascii=False) + "\n" for item in items)
    tests = grouped([item for item in items if item.row.role == EVAL], stand_ins=stand_ins)
    if tests:
        _yaml(folder / SUITE, suite(tests, name))
    lists = grouped([item for item in items if item.row.role != EVAL], stand_ins=stand_ins)
    if lists:
        (folder / TASKS).mkdir()
        _yaml(folder / TRAINING, training(lists, folder / TASKS, final.resolve() / TASKS))
    if records:
        with (folder / RECORDS).open("w", encoding="utf-8") as file:
            write_jsonl(records, file)


def grouped(items: Sequence[Item], *, stand_ins: bool) -> list[Group]:
    """The items' tasks by environment, options, split and category; every task once, where it comes first."""
    found: dict[tuple[str, ...], Group] = {}
    seen: set[tuple[str, str]] = set()
    for item in items:
        task, kind, options = item.task(stand_ins=stand_ins), item.place.kind, canonical_json(dict(item.place.options))
        if task is None or kind is None or (options, task.id) in seen:
            continue
        seen.add((options, task.id))
        group = Group(
            env=task.env,
            split=task.split,
            options=item.place.options,
            category=item.row.category,
            rounds=kind.rounds,
        )
        found.setdefault((task.env, options, task.split, item.row.category), group).tasks.append(task)
    return list(found.values())


def suite(groups: Sequence[Group], name: str) -> dict[str, Any]:
    """A suite of their tasks, an entry a group."""
    labels = _different([_label(group) for group in groups])
    return {
        "name": name,
        "title": "Items of AgentGym's data that are here",
        "envs": [
            {"label": label, **group.entry(), "tasks": [task.index for task in group.tasks]}
            for label, group in zip(labels, groups, strict=True)
        ],
    }


def training(groups: Sequence[Group], folder: Path, final: Path) -> dict[str, Any]:
    """Settings of a training; the lists of tasks are written into `folder`, and named as if they lay in `final`."""
    environments = []
    for name, group in zip(_different([f"{g.env}_{g.split}" for g in groups]), groups, strict=True):
        (folder / f"{name}.txt").write_text("".join(f"{task.id}\n" for task in group.tasks), encoding="utf-8")
        environments.append({**group.entry(), "tasks": str(final / f"{name}.txt")})
    # The suite holds the tests; a split `dev`, from which training validates, is not everywhere.
    return {"environments": environments, "evaluation": {"before": False}}


def _label(group: Group) -> str:
    """Its category, under the name of its environment."""
    category = _ODD.sub("_", group.category or group.split)[:LONGEST_LABEL]
    return category if category.startswith(group.env) else f"{group.env}_{category}"


def _different(names: Sequence[str]) -> list[str]:
    """The names, with a number where one was there before."""
    return [name if name not in names[:n] else f"{name}_{n}" for n, name in enumerate(names)]


def _yaml(path: Path, value: Any) -> None:
    import yaml

    text = yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=120, default_flow_style=None)
    path.write_text(text, encoding="utf-8")
