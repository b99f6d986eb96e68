"""WebShop and the contract of environments; shortcuts, and sessions side by side."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from shop_play import do, every_task, solution

import envservers.shop.webshop
from agentenv.protocol import digest_of
from agentenv.testing.controls import controls
from envservers.shop.webshop.calibrate import calibrated, calibration
from envservers.shop.webshop.env import WebShop
from envservers.shop.webshop.spec import SPEC
from envservers.shop.webshop.tasks import COUNTS
from envservers.shop.webshop.world.build import SEED, wishes_file, world_file
from envservers.shop.webshop.world.catalogue import make_catalogue
from envservers.shop.webshop.world.goals import Goals
from envservers.shop.webshop.world.ranks import Ranks
from envservers.shop.webshop.world.wishes import read_wishes

SMALL = {"size": "small"}
REPORT = Path(envservers.shop.webshop.__file__).with_name("proof.jsonl")


def test_no_shortcut_gets_over_its_ceiling(world):
    found = asyncio.run(controls(SPEC, options=SMALL, seeds=1))
    for control in found:
        assert control.ok, control
    rates = {control.name: control.success for control in found}
    assert set(rates) == {"noop", "random", "first_hit", "named_options"}
    assert rates["noop"] == 0
    assert 0 < rates["first_hit"] <= rates["named_options"]


@pytest.mark.slow
def test_the_first_hit_of_the_full_catalogue_is_worth_what_it_should_be(full_home):
    for split in ("dev", "test", "test_ood"):
        report = calibration("full", split)
        assert calibrated(report), report


def test_sixty_four_sessions_in_threads_do_not_see_each_other(world):
    tasks = (every_task(world, "test") + every_task(world, "dev"))[:64]
    alone = [[result.observation for _, result in solution(WebShop(size="small"), task)] for task in tasks]
    with ThreadPoolExecutor(8) as threads:
        together = list(threads.map(lambda task: solution(WebShop(size="small"), task), tasks))
    assert [[result.observation for _, result in played] for played in together] == alone


def test_sessions_that_take_turns_keep_their_own_pages(world):
    tasks = every_task(world, "test")
    envs = [WebShop(size="small") for _ in tasks]
    for env, task in zip(envs, tasks, strict=True):
        env.reset(task)
    for env, task in zip(envs, tasks, strict=True):
        do(env, f"search[{task.payload['query']}]")
    for env, task in zip(envs, tasks, strict=True):
        assert task.payload["instruction"] in do(env, "click[Next >]").observation
        assert "Page 2" in env.last.observation


FULL = {
    "train": "da98ff6420e2e862c2c87327c1d1013357ac5958e98f0ecab1a331ddb237803b",
    "dev": "7f3074b9102bd0830c4cdd71a315a01d9b0c399cf50ce08f506223b22b5fbd94",
    "test": "950c243c19015c8391ac893be8efb0ae32407289d374487478940fe47d87ee75",
    "test_ood": "5ad80b522aacd646aa61686961ad4ace22bef648c24c978cbf5275d3db64187b",
}
"""Over the tasks of the full catalogue; the version of the tasks is raised with them."""


@pytest.mark.slow
@pytest.mark.parametrize("split", FULL)
def test_the_tasks_of_the_full_catalogue_stay_as_they_are(full_home, split):
    tasks = SPEC.task_set()
    some = [tasks.get(split, index) for index in range(tasks.count(split))]
    assert digest_of([task.digest for task in some]) == FULL[split]
    assert len({task.payload["canonical"] for task in some}) == len(some)
    assert sum(bool(task.payload["tabs"]) for task in some) >= 0.5 * len(some)


@pytest.mark.slow
def test_the_kept_wishes_are_those_that_would_be_drawn(full_home):
    """Of the split that is drawn first; the others depend on it alone."""
    made = make_catalogue(SEED, "full")
    drawn = Goals(made, Ranks(world_file("full")).search).draw(SEED, "test", COUNTS["full"]["test"])
    assert drawn == list(read_wishes(wishes_file("test")))
