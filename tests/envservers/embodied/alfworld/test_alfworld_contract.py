"""AlfWorld and the contract of environments."""

import json
from pathlib import Path

import pytest

import envservers.embodied.alfworld
from agentenv.agents.prompts import opening_of
from agentenv.registry import get_spec
from envservers.embodied.alfworld.spec import SPEC
from envservers.embodied.alfworld.tasks import table

REPORT = Path(envservers.embodied.alfworld.__file__).with_name("proof.jsonl")


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


@pytest.mark.parametrize("format", ["react", "function_calling", "code_as_action"])
def test_every_format_is_told_when_a_chore_is_done(format):
    opening = opening_of(SPEC, format).prompt.opening
    for rule in ("Any object of the kind", "in the same receptacle", "switch the lamp on", "carry one object"):
        assert rule in opening


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
