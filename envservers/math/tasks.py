"""The tasks of Math: generated problems, made when asked for, or those of GSM8K's files.

A line of `tasks.tsv`, which `make_tasks` wrote, is a split, a template and the seeds of its tasks. Within a split the
templates take turns, so that any stretch of it is a mix.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any

from agentenv.protocol import Task, digest_of
from agentenv.registry import MadeTasks, TaskSet
from envservers.math.numbers import exact_text
from envservers.math.spec import ENV_ID

VERSION = "1"
"""Of the generator; a golden test holds the tasks to it."""
HELD_OUT = "test_ood"
COUNTS: Mapping[str, int] = {"train": 7_000, "dev": 500, "test": 1_000, HELD_OUT: 500}


@dataclass(frozen=True, slots=True)
class Row:
    """One task of the table."""

    template: str
    seed: int


def make_tasks(options: Mapping[str, Any]) -> TaskSet:
    """The task set under these options; no problem is made before it is asked for."""
    if file := options.get("gsm8k"):
        from envservers.math.gsm8k import file_tasks

        return file_tasks(Path(file))
    # The table and the version fix every task; the mode changes none.
    digest = digest_of([ENV_ID, VERSION, hashlib.sha256(_text().encode()).hexdigest()])
    return MadeTasks(counts=COUNTS, digest=digest, make=_task)


def canonical_task(task: Task) -> Any:
    """What makes two tasks the same problem: template and numbers, else the question's words."""
    return task.payload["canonical"]


def training_row(task: Task) -> Mapping[str, Any]:
    """What a row for a trainer says beside the prompt."""
    lines = [*(f"{step} = {value}" for step, value in task.payload["steps"]), *task.payload.get("solution", ())]
    answer = task.payload["answer"]
    return {
        "data_source": task.payload.get("source", f"agentenv/{ENV_ID}"),
        "ability": "math",
        "ground_truth": answer,
        "extra_info": {"question": task.payload["question"], "answer": "\n".join([*lines, f"#### {answer}"])},
    }


@functools.cache
def table() -> Mapping[str, tuple[Row, ...]]:
    """The rows of each split in the order of their tasks."""
    by_template: dict[str, list[list[Row]]] = {}
    for line in _text().splitlines():
        split, template, seeds = line.split(" ")
        by_template.setdefault(split, []).append([Row(template, int(seed)) for seed in seeds.split(",")])
    return {split: tuple(_taking_turns(columns)) for split, columns in by_template.items()}


def facts(options: Mapping[str, Any] | None = None) -> dict[str, object]:
    """How many templates there are, and how long their solutions."""
    from envservers.math.world.language import templates

    known = templates().values()
    operations = [len(template.steps) for template in known]
    return {
        "templates": len(known),
        "templates of test_ood alone": sum(template.held_out for template in known),
        "operations": f"{min(operations)} to {max(operations)}",
    }


def _taking_turns(columns: list[list[Row]]) -> Iterator[Row]:
    return (row for row in chain.from_iterable(zip_longest(*columns)) if row is not None)


def _text() -> str:
    return files(__package__).joinpath("tasks.tsv").read_text(encoding="utf-8")


def _task(split: str, index: int) -> Task:
    from envservers.math.world.generate import make_problem
    from envservers.math.world.language import templates

    row = table()[split][index]
    template = templates()[row.template]
    problem = make_problem(template, row.seed, held_out=split == HELD_OUT)
    return Task(
        id=f"{ENV_ID}/{split}/{index}",
        env=ENV_ID,
        split=split,
        index=index,
        category=template.category,
        difficulty=template.difficulty,
        template=template.name,
        seed=row.seed,
        payload={
            "question": problem.question,
            "answer": exact_text(problem.answer),
            "steps": [[step, exact_text(value)] for step, value in problem.steps],
            "canonical": problem.canonical(template.name),
            "aside": problem.aside,
        },
    )
