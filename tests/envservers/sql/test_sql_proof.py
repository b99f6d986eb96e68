"""The report of the scripted solution over whole splits is of the tasks as they are."""

import json
from pathlib import Path

import envservers.sql
from agentenv.testing.subject import spaced
from envservers.sql.env import SQLEnv
from envservers.sql.spec import SPEC

REPORT = Path(envservers.sql.__file__).with_name("proof.jsonl")


def test_the_report_is_of_these_tasks_and_every_one_is_solved():
    head, *lines = map(json.loads, REPORT.read_text(encoding="utf-8").splitlines())
    tasks = SPEC.task_set()
    assert head == {"env": "sql", "version": SPEC.version, "options": {}, "tasks": tasks.digest}
    assert {line["id"]: (line["steps"], line["score"], "problem" in line) for line in lines} == {
        f"sql/{split}/{index}": (1, 1.0, False)
        for split in tasks.splits()
        if split != "train"
        for index in range(tasks.count(split))
    }


def test_a_sample_of_the_report_holds_when_it_is_played_again():
    known = {line["id"]: line for line in map(json.loads, REPORT.read_text(encoding="utf-8").splitlines()[1:])}
    tasks, env = SPEC.task_set(), SQLEnv()
    for split in ("dev", "test", "test_ood"):
        for index in spaced(tasks.count(split), 12):
            task = tasks.get(split, index)
            assert task.digest[:16] == known[task.id]["digest"]
            env.last = env.reset(task)
            for action in env.solve(task):
                env.last = env.step(action)
            assert env.last.success
