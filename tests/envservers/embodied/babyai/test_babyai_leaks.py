"""What stands in a list of BabyAI's actions tells nothing of which one is right."""

from collections import Counter

import pytest

pytest.importorskip("minigrid")

from envservers.embodied.babyai.env import BabyAI
from envservers.embodied.babyai.spec import SPEC
from envservers.embodied.babyai.tasks import table

THINGS = 4
"""In view, so many as there are places for the right one."""
CRITICAL = 16.27
"""Chi-square of THINGS - 1 degrees of freedom at p = 0.001."""


@pytest.mark.slow
def test_the_thing_that_a_mission_is_about_is_as_likely_the_nearest_as_the_farthest():
    tasks, env, places = SPEC.task_set(), BabyAI(), Counter()
    rows = [index for index, row in enumerate(table()["train"]) if row.steps == 1]
    for index in rows:
        task = tasks.get("train", index)
        if task.category not in ("goto", "pickup"):
            continue
        env.last = env.reset(task)
        right = next(env.solve(task)).text
        verb = right.split()[0]
        offered = [text for text in env.available_actions() if text.startswith(f"{verb} ")]
        alike = [text for text in offered if text.rpartition(" ")[0] == right.rpartition(" ")[0]]
        if len(alike) == 1 and len(offered) == THINGS:  # of two of a name the solution takes the nearer one
            places[offered.index(right)] += 1
        if places.total() == 200:
            break
    expected = places.total() / THINGS
    assert expected >= 40
    assert sum((places[place] - expected) ** 2 / expected for place in range(THINGS)) < CRITICAL
