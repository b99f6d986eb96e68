"""The report of the scripted solution over whole splits is of the tasks as they are."""

import json
from pathlib import Path

import envservers.math
from envservers.math.spec import SPEC
from envservers.math.tasks import COUNTS

REPORT = Path(envservers.math.__file__).with_name("proof.jsonl")


def test_the_report_has_every_task_outside_of_train_and_each_is_solved():
    head, *lines = map(json.loads, REPORT.read_text(encoding="utf-8").splitlines())
    assert head == {"env": "math", "version": SPEC.version, "options": {}, "tasks": SPEC.task_set().digest}
    solved = {line["id"] for line in lines if "problem" not in line and line["score"] == 1.0}
    assert solved == {f"math/{s}/{i}" for s, count in COUNTS.items() if s != "train" for i in range(count)}


def test_the_tasks_of_the_report_are_those_of_today():
    """The digests of one task of each template in each split, and some more."""
    digests = {line["id"]: line["digest"] for line in map(json.loads, REPORT.read_text().splitlines()[1:])}
    tasks = SPEC.task_set()
    for split in COUNTS:
        for index in range(0 if split != "train" else COUNTS[split], min(COUNTS[split], 120)):
            task = tasks.get(split, index)
            assert digests[task.id] == task.digest[:16]
