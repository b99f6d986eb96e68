"""People play the tasks of suites, beside programs, and what they did can be verified."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from playing import in_house

from agentenv.registry import get_spec
from evals.plan import make_plan
from evals.suite import load
from evals.verify.counts import count_problems
from evals.verify.record import from_store
from evals.verify.verify import verify

MAZE = "suite:smoke:maze"


@pytest.fixture(scope="module")
def refs():
    return [planned.task for planned in make_plan(load("smoke")).tasks if planned.label == "maze"]


def test_suites_that_hold_the_environment_are_offered_beside_its_splits(kept):
    async def act(house):
        otter = await house.person()
        found = {source["value"]: source["text"] for source in (await otter.get("tasks/maze"))["sources"]}
        assert next(iter(found)) == "split:test"
        assert list(found).index("split:train") == sum(value.startswith("split:") for value in found) - 1
        assert found[MAZE] == "suite smoke, 4 tasks"

    in_house(kept, act, spec=get_spec("maze"))


def test_tasks_of_a_suite_come_in_its_order_the_least_played_first(kept, refs):
    async def act(house):
        otter, heron = await house.person(), await house.person("heron")
        played = []
        for person in (otter, otter, heron):
            game = await person.start("", MAZE, "maze")
            played.append(game["task"])
            await person.post("give-up", game=game["id"])
        assert played == [refs[0].id, refs[1].id, refs[2].id]
        game = await heron.start(refs[0].id, MAZE, "maze")
        assert game["practice"] is False
        run = house.store.runs()[0]
        assert (run.suite, run.suite_hash, run.suite_source) == ("smoke", load("smoke").hash, "smoke")
        assert [world["label"] for world in run.worlds] == [entry.name for entry in load("smoke").envs]
        other = f"maze/test/{next(i for i in range(50) if i not in {ref.index for ref in refs})}"
        await heron.post("give-up", game=game["id"])
        assert (await heron.refused("start", env="maze", source=MAZE, task=other))[0] == 404

    in_house(kept, act, spec=get_spec("maze"))


def test_a_run_of_a_person_is_verified_like_any_other(kept):
    async def act(house):
        otter = await house.person()
        for actions in (["move up", "fly", "move left"], ["move down"]):
            await otter.start("", MAZE, "maze")
            for action in actions:
                await otter.step(action)
            await otter.post("give-up", game=otter.game["id"])

    in_house(kept, act, spec=get_spec("maze"))
    [run] = kept.runs()
    verdict = asyncio.run(verify(from_store(kept, run.id)))
    assert (verdict.level, verdict.verified, verdict.of, list(verdict.problems)) == ("verified", 2, 2, [])


def test_a_task_from_outside_of_the_suite_is_found_out(kept):
    async def act(house):
        otter = await house.person()
        await otter.start("", MAZE, "maze")
        await otter.post("give-up", game=otter.game["id"])

    in_house(kept, act, spec=get_spec("maze"))
    record = from_store(kept, kept.runs()[0].id)
    [planned] = record.plan
    foreign = replace(planned, task=replace(planned.task, id="maze/test/49"))
    assert "maze/test/49 is no task of the suite" in count_problems(replace(record, plan=[foreign]))
    assert "a task is there twice" in count_problems(replace(record, plan=[planned, planned]))
