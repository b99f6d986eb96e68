"""The report of the scripted solution over whole splits is of the tasks as they are."""

import json
from pathlib import Path

import pytest

pytest.importorskip("minigrid")

import envservers.embodied.babyai
from envservers.embodied.babyai.spec import SPEC
from envservers.embodied.babyai.tasks import table

REPORT = Path(envservers.embodied.babyai.__file__).with_name("proof.jsonl")


def test_the_report_is_of_these_tasks_and_every_one_is_solved_in_the_steps_of_the_table():
    head, *lines = map(json.loads, REPORT.read_text(encoding="utf-8").splitlines())
    assert head == {"env": "babyai", "version": SPEC.version, "options": {}, "tasks": SPEC.task_set().digest}
    solved = {line["id"]: line["steps"] for line in lines if "problem" not in line}
    expected = {
        f"babyai/{split}/{index}": row.steps
        for split, rows in table().items()
        if split != "train"
        for index, row in enumerate(rows)
        if row.steps
    }
    assert solved == expected
