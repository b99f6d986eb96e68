"""BabyAI and the contract of environments."""

import os
import subprocess
import sys
from dataclasses import replace

import pytest

pytest.importorskip("minigrid")

from agentenv.protocol import UNPROVEN
from agentenv.registry import TableTasks
from agentenv.testing import check_env
from envservers.embodied.babyai.chance import succeeds
from envservers.embodied.babyai.spec import SPEC

QUICK = ("card_is_sound", "splits_are_disjoint", "solve_succeeds", "snapshots_restore")


def test_the_rules_that_matter_most_are_kept():
    report = check_env(SPEC, rules=QUICK, measured=False, budget_s=1)
    assert report.failed == [], {finding.rule: finding.detail for finding in report.findings}


PLAY = """
from agentenv.protocol import digest_of
from agentenv.registry import get_spec
tasks, env, seen = get_spec("babyai").task_set(), get_spec("babyai").make(), []
for index in range(0, 60, 5):
    env.last = env.reset(tasks.get("test", index))
    seen.append(env.last.observation)
    for action in env.solve(tasks.get("test", index)):
        env.last = env.step(action)
        seen.append([action.text, env.last.observation, env.last.reward])
played = digest_of([tasks.digest, seen])
"""


def test_another_process_with_another_hash_seed_sees_and_solves_the_same():
    here = {}
    exec(PLAY, here)
    env = {**os.environ, "PYTHONHASHSEED": "7"}
    command = [sys.executable, "-c", f"{PLAY}\nprint(played)"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False, env=env)
    assert done.stdout.split() == [here["played"]], done.stderr


@pytest.mark.slow
def test_every_rule_of_the_contract_is_kept():
    report = check_env(SPEC, measured=False, budget_s=5)
    assert report.failed == [], {finding.rule: finding.detail for finding in report.findings}


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


def test_chance_is_the_same_at_every_count():
    tasks = [SPEC.task_set().get("test", index) for index in range(12)]
    counted = [succeeds(task, attempt) for task in tasks for attempt in range(3)]
    assert counted == [succeeds(task, attempt) for task in tasks for attempt in range(3)]
    assert 0 < sum(counted) < len(counted)


def test_every_function_of_the_card_is_an_action_that_the_env_reads():
    from envservers.embodied.babyai.words import CHECK, PRIMITIVES, read_action

    for function in SPEC.functions:
        arguments = ["red ball 1"] if function["parameters"]["properties"] else []
        text = read_action(" ".join([function["name"], *arguments]))
        verb = text.removesuffix(" red ball 1")
        assert (
            text in PRIMITIVES
            or text == CHECK
            or verb
            in {
                "go to",
                "pickup",
                "go through",
                "toggle and go through",
            }
        )
