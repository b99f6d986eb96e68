"""The reports of `scripts/prove.py`, checked in: every task outside of train was solved, as it is now."""

import json
from importlib.util import find_spec
from pathlib import Path

import pytest

from agentenv.errors import EnvUnavailable
from agentenv.protocol import UNPROVEN
from agentenv.registry import EnvSpec, specs

SAMPLE = 40
"""Tasks of a report that are made again in a quick run."""


def report_of(spec: EnvSpec) -> Path:
    module = find_spec(spec.entry.partition(":")[0])
    assert module is not None
    assert module.origin is not None
    return Path(module.origin).with_name("proof.jsonl")


PROVED = [spec for spec in specs() if report_of(spec).exists()]


@pytest.mark.parametrize("spec", PROVED, ids=lambda spec: spec.id)
@pytest.mark.parametrize("most", [SAMPLE, pytest.param(10**9, marks=pytest.mark.slow)])
def test_a_report_is_of_every_task_outside_of_train_as_it_is_now(spec: EnvSpec, most: int) -> None:
    head, *lines = (json.loads(line) for line in report_of(spec).read_text(encoding="utf-8").splitlines())
    try:
        tasks = spec.task_set(head["options"])
        first = tasks.get(tasks.splits()[-1], 0)
    except EnvUnavailable as exc:
        pytest.skip(str(exc))
    assert (head["env"], head["version"], head["tasks"]) == (spec.id, spec.version, tasks.digest)
    assert first.env == spec.id
    assert not [line["id"] for line in lines if line.get("problem")]
    proved = {line["id"]: line["digest"] for line in lines}
    assert len(proved) == len(lines)
    named = {task.split("/")[1] for task in proved}
    assert named >= {split for split in tasks.splits() if split.startswith(("dev", "test"))}
    places = [(split, index) for split in sorted(named) for index in range(tasks.count(split))]
    missing = [place for place in places if f"{spec.id}/{place[0]}/{place[1]}" not in proved]
    unproven = [task.id for task in (tasks.get(*place) for place in missing) if task.category != UNPROVEN]
    assert not unproven
    for split, index in places[:: max(1, len(places) // most)]:
        task = tasks.get(split, index)
        assert proved.get(task.id, task.digest[:16]) == task.digest[:16]


def test_the_environments_with_worlds_of_their_own_have_a_report() -> None:
    without = {spec.id for spec in specs() if spec.world and spec.solvable} - {spec.id for spec in PROVED}
    assert without <= {"textcraft", "wordle", "maze"}, "run `make prove ENV=...` and check the report in"
