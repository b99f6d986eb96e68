"""BabyAI and the contract of environments."""

from dataclasses import replace

import pytest

pytest.importorskip("minigrid")

from agentenv.agents.prompts import opening_of
from agentenv.protocol import UNPROVEN
from agentenv.registry import TableTasks
from agentenv.testing import check_env
from envservers.embodied.babyai.chance import succeeds
from envservers.embodied.babyai.spec import SPEC


def one_of_each(options):
    """A task that is solved, and one that cannot be."""
    tasks = SPEC.task_set()
    unproven = next(task for task in (tasks.get("agentgym", i) for i in range(1000)) if task.category == UNPROVEN)
    unproven = replace(unproven, id="babyai/agentgym/0", index=0)
    return TableTasks(tables={"train": [tasks.get("train", 0)], "agentgym": [unproven]}, version="1")


def test_a_task_without_a_solution_breaks_no_rule():
    spec = replace(SPEC, tasks=f"{__name__}:one_of_each")
    [finding] = check_env(spec, rules=["solve_succeeds"], measured=False).findings
    assert finding.detail == "1 of 1 sampled tasks"


@pytest.mark.parametrize("format", ["react", "function_calling", "code_as_action"])
def test_every_format_is_told_when_a_mission_is_accomplished_and_when_it_fails(format):
    opening = opening_of(SPEC, format).prompt.opening
    for rule in (
        "You reach a thing when",
        "has to be closed first",
        "four cells beside",
        "in that room",
        "fail at once",
    ):
        assert rule in opening


def test_chance_is_the_same_at_every_count():
    tasks = [SPEC.task_set().get("test", index) for index in range(12)]
    counted = [succeeds(task, attempt) for task in tasks for attempt in range(3)]
    assert counted == [succeeds(task, attempt) for task in tasks for attempt in range(3)]
    assert 0 < sum(counted) < len(counted)
