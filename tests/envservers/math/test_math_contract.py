"""Math and the contract of environments."""

import os
import subprocess
import sys

import pytest

from agentenv.testing import check_env
from envservers.math.spec import SPEC

QUICK = (
    "card_is_sound",
    "options_are_validated",
    "odd_actions_answered",
    "malformed_actions_count",
    "reset_in_mid_episode",
    "sessions_are_apart",
    "solve_succeeds",
    "snapshots_restore",
)


@pytest.mark.parametrize("mode", ["answer", "calculator"])
def test_the_rules_that_matter_most_are_kept(mode):
    report = check_env(SPEC, options={"mode": mode}, rules=QUICK, measured=False, budget_s=1)
    assert report.failed == [], {finding.rule: finding.detail for finding in report.findings}


PLAY = """
from agentenv.protocol import digest_of
from agentenv.registry import get_spec
seen = []
for mode in ("answer", "calculator"):
    tasks, env = get_spec("math").task_set({"mode": mode}), get_spec("math").make({"mode": mode})
    for split in ("train", "test", "test_ood"):
        for index in range(0, 200, 9):
            task = tasks.get(split, index)
            env.last = env.reset(task)
            seen.append([task.digest, env.last.observation])
            solution = env.solve(task)
            action = next(solution)
            while not (result := env.step(action)).terminated:
                seen.append([action.text, result.observation])
                action = solution.send(result)
            seen.append([action.text, result.reward])
played = digest_of([tasks.digest, seen])
"""


def test_two_processes_with_two_hash_seeds_see_and_solve_the_same():
    found = set()
    for hash_seed in ("1", "7"):
        env = {**os.environ, "PYTHONHASHSEED": hash_seed}
        command = [sys.executable, "-c", f"{PLAY}\nprint(played)"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False, env=env)
        assert done.stderr == ""
        found.add(done.stdout)
    assert len(found) == 1


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["answer", "calculator"])
def test_every_rule_of_the_contract_is_kept(mode):
    report = check_env(SPEC, options={"mode": mode}, measured=False, budget_s=5)
    assert report.failed == [], {finding.rule: finding.detail for finding in report.findings}
