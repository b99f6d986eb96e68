"""Agents that do not play, and what their ceilings are held against."""

import asyncio
import random

import pytest

pytest.importorskip("minigrid")

from agentenv.agents.base import Seat
from agentenv.agents.shortcut import shortcut_of
from agentenv.protocol import TaskRef
from envservers.embodied.babyai.shortcuts import NearestThing, SharedWords, Spin, words
from envservers.embodied.babyai.spec import SPEC

CHOICES = ["turn left", "move forward", "pickup red ball 1", "go to red ball 1", "go to blue key 1", "drop"]


class View:
    """What an agent may ask of an episode whose choices stay the same."""

    def __init__(self, choices):
        self.choices = choices

    async def available_actions(self):
        return self.choices

    async def oracle(self):
        raise AssertionError("a shortcut does not ask for the solution")


def moves_of(agent, observations, choices=CHOICES):
    async def play():
        task = TaskRef(id="babyai/test/0", env="babyai", split="test", index=0)
        await agent.start(Seat(spec=SPEC, task=task, view=View(choices), max_steps=20, rng=random.Random(0)))
        return [(await agent.act(observation)).action.text for observation in observations]

    return asyncio.run(play())


def test_shared_words_does_what_the_goal_says_and_looks_elsewhere_when_nothing_fits():
    goal = "Your goal: pick up the red ball\nYou see."
    assert moves_of(SharedWords(), [goal, "You see."]) == ["pickup red ball 1", "pickup red ball 1"]
    assert set(moves_of(SharedWords(), ["Your goal: open the grey door"] * 20)) <= {"turn left", "move forward"}


def test_the_nearest_thing_is_gone_to_once_each_whatever_the_goal():
    found = moves_of(NearestThing(), ["Your goal: open the grey door"] * 5)
    assert found[:2] == ["go to red ball 1", "go to blue key 1"]
    assert set(found[2:]) <= {"turn left", "move forward"}


def test_spinning_needs_no_list():
    assert moves_of(Spin(), ["Your goal: go"] * 3, None) == ["turn left"] * 3


def test_words_that_say_nothing_are_left_out():
    assert words("pick up the red ball on your left, then go to a key") == {
        "pickup",
        "red",
        "ball",
        "left",
        "go",
        "key",
    }


@pytest.mark.parametrize("name", ["random", "spin", "nearest_thing", "shared_words"])
def test_the_card_names_each_shortcut_with_its_ceiling(name):
    assert 0 < shortcut_of(SPEC, name).ceiling < 1
