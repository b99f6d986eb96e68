"""The reports of `scripts/prove.py`, checked in: every task outside of train was solved, as it is now."""

import asyncio
import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from agentenv.agents import make_agent
from agentenv.errors import EnvUnavailable
from agentenv.pool import EnvPool
from agentenv.protocol import UNPROVEN, TaskRef
from agentenv.registry import EnvSpec, TaskSet, specs
from agentenv.rollout import rollout
from agentenv.testing.subject import stratified

SAMPLE = 40
"""Tasks of a report that are made again in a quick run."""
REPLAYED = 12
"""Tasks of each split of a report that are solved again, from all categories and difficulties."""
LARGE = ("search", "webarena", "webshop")
"""Their worlds take long to build."""


def report_of(spec: EnvSpec) -> Path:
    module = find_spec(spec.entry.partition(":")[0])
    assert module is not None
    assert module.origin is not None
    return Path(module.origin).with_name("proof.jsonl")


PROVED = [spec for spec in specs() if report_of(spec).exists()]


ALL = [pytest.param(spec, id=spec.id) for spec in PROVED]
SMALL = [pytest.param(spec, id=spec.id, marks=[pytest.mark.slow] if spec.id in LARGE else []) for spec in PROVED]


def read_report(spec: EnvSpec) -> tuple[TaskSet, dict[str, Any], dict[str, dict[str, Any]]]:
    """The tasks of a report, its first line, and its other ones by task."""
    head, *lines = (json.loads(line) for line in report_of(spec).read_text(encoding="utf-8").splitlines())
    by_task = {line["id"]: line for line in lines}
    assert len(by_task) == len(lines)
    try:
        return spec.task_set(head["options"]), head, by_task
    except EnvUnavailable as exc:
        pytest.skip(str(exc))


@pytest.mark.parametrize("spec", ALL)
def test_a_report_is_of_every_task_outside_of_train_and_each_is_solved(spec: EnvSpec) -> None:
    tasks, head, proved = read_report(spec)
    assert (head["env"], head["version"], head["tasks"]) == (spec.id, spec.version, tasks.digest)
    assert not [task for task, line in proved.items() if line.get("problem")]
    named = {task.split("/")[1] for task in proved}
    assert named >= {split for split in tasks.splits() if split.startswith(("dev", "test"))}
    places = {f"{spec.id}/{split}/{n}": (split, n) for split in named for n in range(tasks.count(split))}
    assert set(proved) <= set(places)
    missing = [tasks.get(*place) for task, place in places.items() if task not in proved]
    assert not [task.id for task in missing if task.category != UNPROVEN]


@pytest.mark.parametrize("spec", SMALL)
@pytest.mark.parametrize("most", [SAMPLE, pytest.param(10**9, marks=pytest.mark.slow)])
def test_the_tasks_of_a_report_are_as_they_were(spec: EnvSpec, most: int) -> None:
    tasks, _, proved = read_report(spec)
    for task, line in list(proved.items())[:: max(1, len(proved) // most)]:
        _, split, index = task.split("/")
        assert tasks.get(split, int(index)).digest[:16] == line["digest"], task


@pytest.mark.parametrize("spec", SMALL)
def test_a_sample_of_a_report_is_solved_again_in_as_many_steps(spec: EnvSpec) -> None:
    _, head, proved = read_report(spec)

    async def solved() -> dict[str, int]:
        async with EnvPool(spec.id, size=1, options=head["options"]) as pool:
            refs = [
                ref for split in sorted({task.split("/")[1] for task in proved}) for ref in await strata(pool, split)
            ]
            episodes = await rollout(pool, refs, make_agent("oracle"))
            assert [episode.task.id for episode in episodes if not episode.success] == []
            return {episode.task.id: len(episode.turns) for episode in episodes}

    async def strata(pool: EnvPool, split: str) -> list[TaskRef]:
        refs = [ref for ref in await pool.task_refs(split) if ref.id in proved]
        return stratified(refs, REPLAYED)

    again = asyncio.run(solved())
    assert len(again) >= 2 * REPLAYED
    assert again == {task: proved[task]["steps"] for task in again}


def test_the_environments_with_worlds_of_their_own_have_a_report() -> None:
    without = {spec.id for spec in specs() if spec.world and spec.solvable} - {spec.id for spec in PROVED}
    assert without <= {"textcraft", "wordle", "maze"}, "run `make prove ENV=...` and check the report in"
