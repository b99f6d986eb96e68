"""A folder of AgentGym's data as what this project reads: a suite, lists of tasks to train on, and records."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentenv.data.agentgym.files import EVAL, TRAIN, Row
from agentenv.data.agentgym.places import Place, Status
from agentenv.protocol import TaskRef
from agentenv.trajectory import Trajectory, write_jsonl

ITEMS, SUITE, TRAINING, RECORDS = "items.jsonl", "suite.yaml", "train.yaml", "trajectories.jsonl"
TASKS = "tasks"
"""Folder of the lists of tasks to train on."""
_ODD = re.compile(r"[^A-Za-z0-9_.-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A row and its place."""

    row: Row
    place: Place

    def task(self, *, stand_ins: bool) -> TaskRef | None:
        """The task that is played for it; None where there is none.

        What stands in for a task to train on is one of `train` itself, and no other item has one of these.
        """
        instead = self.place.stand_in if stand_ins else None
        if instead is not None and (instead.split == "train") != (self.row.role == TRAIN):
            instead = None
        return self.place.task or instead

    def to_json(self) -> dict[str, Any]:
        """For the list of items."""
        row, place = self.row, self.place
        return {
            "item_id": row.item_id,
            "file": row.file,
            "row": row.number,
            "role": row.role,
            "category": row.category,
            "conversation": bool(row.conversation),
            "status": place.status.value,
            "why": place.why,
            "task": place.task.id if place.task else None,
            "stand_in": place.stand_in.id if place.stand_in else None,
            "options": dict(place.options),
        }


def table(items: Sequence[Item]) -> list[dict[str, Any]]:
    """By kind and role: how many items there are, and what they come to."""
    found: dict[tuple[str, str], Counter[str]] = {}
    for item in items:
        name = item.place.kind.name if item.place.kind else "unknown"
        counts = found.setdefault((name, item.row.role), Counter())
        counts["items"] += 1
        counts[item.place.status.name.lower()] += 1
        counts["stand_ins"] += item.place.stand_in is not None
        counts["recorded"] += bool(item.row.conversation)
    columns = ("items", "ok", "needs", "not_portable", "stand_ins", "recorded")
    return [
        {"kind": name, "role": role, **{column: counts[column] for column in columns}}
        for (name, role), counts in sorted(found.items())
    ]


def reasons(items: Sequence[Item]) -> list[dict[str, Any]]:
    """Why items are not here, with how many of each kind."""
    counted = Counter(
        (item.place.kind.name if item.place.kind else "unknown", item.place.status.value, item.place.why)
        for item in items
        if item.place.status is not Status.OK
    )
    return [{"kind": k, "status": status, "why": why, "items": n} for (k, status, why), n in sorted(counted.items())]


def in_both(items: Sequence[Item]) -> int:
    """How many items are to train on and to test with: what is learned there says nothing of the test."""
    by_role = {role: {item.row.item_id for item in items if item.row.role == role} for role in (TRAIN, EVAL)}
    return len(by_role[TRAIN] & by_role[EVAL])


def write(
    folder: Path, items: Sequence[Item], records: Sequence[Trajectory], *, final: Path, name: str, stand_ins: bool
) -> None:
    """Fill an empty folder, which will lie at `final`: training settings name lists by their paths there."""
    with (folder / ITEMS).open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(item.to_json(), ensure_ascii=False) + "\n" for item in items)
    played = [(item, task) for item in items if (task := item.task(stand_ins=stand_ins)) is not None]
    entries = suite_entries([pair for pair in played if pair[0].row.role == EVAL])
    if entries:
        _yaml(folder / SUITE, {"name": name, "title": "Items of AgentGym's data that are here", "envs": entries})
    lists = task_lists([pair for pair in played if pair[0].row.role != EVAL])
    if lists:
        (folder / TASKS).mkdir()
        for listed, (_, ids) in lists.items():
            (folder / TASKS / listed).write_text("".join(f"{id}\n" for id in ids), encoding="utf-8")
        environments = [
            {**entry, "tasks": str(final.resolve() / TASKS / listed)} for listed, (entry, _) in lists.items()
        ]
        # The suite holds the tests; a split `dev`, from which training validates, is not everywhere.
        _yaml(folder / TRAINING, {"environments": environments, "evaluation": {"before": False}})
    if records:
        with (folder / RECORDS).open("w", encoding="utf-8") as file:
            write_jsonl(records, file)


def suite_entries(played: Sequence[tuple[Item, TaskRef]]) -> list[dict[str, Any]]:
    """An entry for each env and category; every task once, in its first place."""
    groups: dict[tuple[str, str, str, str], list[int]] = {}
    seen: set[tuple[str, str, int]] = set()
    limits: dict[str, int] = {}
    for item, task in played:
        options = json.dumps(dict(item.place.options), sort_keys=True)
        if (options, task.env + task.split, task.index) in seen:
            continue
        seen.add((options, task.env + task.split, task.index))
        groups.setdefault((task.env, item.row.category, task.split, options), []).append(task.index)
        limits[task.env] = item.place.kind.rounds if item.place.kind else 1
    labels = _labels([(env, category, split) for env, category, split, _ in groups])
    return [
        {
            "env": env,
            "label": label,
            "split": split,
            "max_steps": limits[env],
            **({"options": json.loads(options)} if options != "{}" else {}),
            "tasks": indices,
        }
        for label, ((env, _, split, options), indices) in zip(labels, groups.items(), strict=True)
    ]


def _labels(groups: Sequence[tuple[str, str, str]]) -> list[str]:
    """A name for each, by env and category, with a number where two come out alike."""
    found: list[str] = []
    for env, category, split in groups:
        odd = _ODD.sub("_", category)[:40]
        label = odd if odd.startswith(env) else "_".join(filter(None, (env, odd or split)))
        found.append(label if label not in found else f"{label}_{len(found)}")
    return found


def task_lists(played: Sequence[tuple[Item, TaskRef]]) -> Mapping[str, tuple[dict[str, Any], list[str]]]:
    """By name of file: settings of an environment in training, and ids of its tasks, each once."""
    groups: dict[tuple[str, str, str], dict[str, None]] = {}
    limits: dict[str, int] = {}
    for item, task in played:
        options = json.dumps(dict(item.place.options), sort_keys=True)
        groups.setdefault((task.env, task.split, options), {})[task.id] = None
        limits[task.env] = item.place.kind.rounds if item.place.kind else 1
    found: dict[str, tuple[dict[str, Any], list[str]]] = {}
    for env, split, options in groups:
        name = f"{env}_{split}.txt" if f"{env}_{split}.txt" not in found else f"{env}_{split}_{len(found)}.txt"
        entry: dict[str, Any] = {"env": env, "split": split, "max_steps": limits[env]}
        if options != "{}":
            entry["options"] = json.loads(options)
        found[name] = (entry, list(groups[env, split, options]))
    return found


def _yaml(path: Path, value: Any) -> None:
    import yaml

    path.write_text(yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=120, default_flow_style=None))
