"""Todo and the contract of environments; the report of its scripted solution; what shortcuts reach."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest
from todo_play import solved

import envservers.tools.todo
from agentenv.agents.prompts import opening_of
from agentenv.functions.table import FunctionTable
from agentenv.registry import get_spec
from agentenv.testing.controls import controls
from envservers.tools.todo.cases import TEMPLATES
from envservers.tools.todo.spec import SPEC
from envservers.tools.todo.tasks import table

REPORT = Path(envservers.tools.todo.__file__).with_name("proof.jsonl")


def test_the_env_is_found_by_its_entry_point_and_listing_it_makes_no_world():
    assert get_spec("todo") == SPEC
    code = (
        "import sys; from agentenv.registry import get_spec; get_spec('todo').task_set().get('test', 0);"
        "print([name for name in sys.modules if name.endswith(('todo.cases', 'todo.world', 'todo.env'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "[]"


def test_the_report_proves_every_task_outside_of_train_as_it_is():
    head, *lines = map(json.loads, REPORT.read_text(encoding="utf-8").splitlines())
    assert head == {"env": "todo", "version": SPEC.version, "options": {}, "tasks": SPEC.task_set().digest}
    solved_in = {line["id"]: (line["steps"], line["digest"]) for line in lines if "problem" not in line}
    tasks = SPEC.task_set()
    expected = {
        f"todo/{split}/{index}": (row.steps, tasks.get(split, index).digest[:16])
        for split, rows in table().items()
        if split != "train"
        for index, row in enumerate(rows)
    }
    assert solved_in == expected
    for level in range(1, 5):
        index = next(i for i in range(50) if tasks.get("test_ood", i).difficulty == level)
        assert len(solved("test_ood", index)) == solved_in[f"todo/test_ood/{index}"][0]


def test_no_answer_that_is_given_at_once_gets_over_its_ceiling():
    found = asyncio.run(controls(SPEC, names=["noop", "frequent", "impossible"], seeds=1))
    assert {control.name: (control.tasks, control.ok) for control in found} == dict.fromkeys(
        ["noop", "frequent", "impossible"], (50, True)
    )
    tasks = [SPEC.task_set().get("test", index) for index in range(50)]
    share = sum(TEMPLATES[task.template].category == "impossible" for task in tasks) / 50
    assert found[-1].success == pytest.approx(share)


@pytest.mark.slow
def test_calling_each_tool_once_gets_nowhere():
    found = asyncio.run(controls(SPEC, names=["random", "each_tool", "each_read"], seeds=1))
    assert [control.name for control in found if not control.ok] == []


def test_the_prompt_names_every_tool():
    [opening, _] = opening_of(SPEC).prompt.messages
    for function in SPEC.functions:
        assert function["name"] in opening["content"]


def test_every_step_of_a_solution_is_a_call_of_the_card():
    table = FunctionTable.of(SPEC.functions)
    for index in range(0, 50, 7):
        for text, _ in solved("test", index):
            call = table.read(text)
            assert call is not None, text
            assert table.action(call) == text
