"""AlfWorld and the contract of environments."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import envservers.embodied.alfworld
from agentenv.agents.prompts import opening_of
from agentenv.registry import get_spec
from agentenv.testing import check_env
from envservers.embodied.alfworld.spec import SPEC
from envservers.embodied.alfworld.tasks import table

REPORT = Path(envservers.embodied.alfworld.__file__).with_name("proof.jsonl")
QUICK = ("card_is_sound", "splits_are_disjoint", "solve_succeeds", "snapshots_restore")


def test_the_rules_that_matter_most_are_kept():
    report = check_env(SPEC, rules=QUICK, measured=False, budget_s=1)
    assert report.failed == [], {finding.rule: finding.detail for finding in report.findings}


@pytest.mark.slow
def test_every_rule_of_the_contract_is_kept():
    report = check_env(SPEC, measured=False, budget_s=5)
    assert report.failed == [], {finding.rule: finding.detail for finding in report.findings}


PLAY = """
from agentenv.protocol import digest_of
from agentenv.registry import get_spec
tasks, env, seen = get_spec("alfworld").task_set(), get_spec("alfworld").make(), []
for split in tasks.splits():
    for index in range(0, 120, 7):
        env.last = env.reset(tasks.get(split, index))
        seen.append(env.last.observation)
        for action in env.solve(tasks.get(split, index)):
            env.last = env.step(action)
            seen.append([action.text, env.last.observation, env.last.reward])
played = digest_of([tasks.digest, seen])
"""


def test_another_process_with_another_hash_seed_sees_and_solves_the_same():
    found = set()
    for seed in ("0", "7"):
        done = subprocess.run(
            [sys.executable, "-c", f"{PLAY}\nprint(played)"],
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
            env={**os.environ, "PYTHONHASHSEED": seed},
        )
        assert done.returncode == 0, done.stderr
        found.add(done.stdout)
    assert len(found) == 1


def test_the_report_is_of_these_tasks_and_every_one_is_solved_in_the_steps_of_the_table():
    head, *lines = map(json.loads, REPORT.read_text(encoding="utf-8").splitlines())
    tasks = SPEC.task_set()
    assert head == {"env": "alfworld", "version": SPEC.version, "options": {}, "tasks": tasks.digest}
    assert {line["id"]: line["steps"] for line in lines if "problem" not in line} == {
        f"alfworld/{split}/{index}": row.steps
        for split, rows in table().items()
        if split != "train"
        for index, row in enumerate(rows)
    }
    for line in lines[::50]:
        _, split, index = line["id"].split("/")
        assert tasks.get(split, int(index)).digest[:16] == line["digest"]


def test_the_environment_is_found_by_its_names():
    assert get_spec("alfworld") is SPEC
    assert SPEC.gym_name == "AlfWorld-v0"


def test_the_prompt_names_every_action_and_takes_the_react_form():
    opening = opening_of(SPEC)
    assert opening.format.name == "react"
    for verb in (
        "go to",
        "open",
        "close",
        "take",
        "put",
        "clean",
        "heat",
        "cool",
        "use",
        "examine",
        "look",
        "inventory",
    ):
        assert verb in opening.prompt.opening
        assert verb in SPEC.action_grammar
