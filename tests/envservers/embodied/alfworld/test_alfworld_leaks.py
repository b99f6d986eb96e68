"""What lies where is told by looking there and by nothing else."""

import json
import re
from dataclasses import asdict

import pytest

from agentenv.protocol import Action
from envservers.embodied.alfworld.env import AlfWorld
from envservers.embodied.alfworld.house import reachable
from envservers.embodied.alfworld.spec import SPEC
from envservers.embodied.alfworld.words import NOTHING_HAPPENS

TASKS = SPEC.task_set()
BINS = 10
CRITICAL = 27.88
"""Chi-square with nine degrees of freedom at p = 0.001."""


def played(split, step=1):
    """Each moment of each scripted solution: the task, the env before the action, the action, the last observation."""
    env = AlfWorld()
    for index in range(0, TASKS.count(split), step):
        task = TASKS.get(split, index)
        env.last = env.reset(task)
        for action in env.solve(task):
            yield task, env, action.text, env.last.observation
            env.last = env.step(action)


@pytest.mark.parametrize("split", ["dev", "test"])
def test_no_thing_is_named_before_its_place_was_looked_into(split):
    found = set()
    for _, env, _, observation in played(split):
        house, state = env.snapshot().house, env.snapshot().state
        if state.steps == 0:
            found = set()
        if state.at is not None and reachable(house, state):
            found |= {house.things[thing] for thing, place in enumerate(state.where) if place == state.at}
        found |= set() if state.held is None else {house.things[state.held]}
        named = set(re.findall(r"\w+ \d+", observation)) & set(house.things)
        assert named <= found


@pytest.mark.parametrize("split", ["dev", "test", "test_unseen", "test_ood"])
def test_listings_name_no_place_and_no_number_of_a_thing(split):
    for index in range(TASKS.count(split)):
        told = json.dumps(asdict(TASKS.get(split, index).ref()))
        assert not re.search(r"\b[a-z]+ \d+", told)


def test_errors_do_not_tell_what_is_there():
    env = AlfWorld(list_actions=False)
    for index in range(0, 200, 20):
        env.reset(TASKS.get("test", index))
        house = env.snapshot().house
        for number, place in enumerate(house.places):
            env.step(Action(text=f"go to {place}"))
            if reachable(house, env.snapshot().state):
                continue
            for thing, where in zip(house.things, house.start.where, strict=True):
                if where == number:
                    for text in (f"take {thing} from {place}", f"examine {thing}", f"use {thing}"):
                        assert env.step(Action(text=text)).observation == NOTHING_HAPPENS


@pytest.mark.parametrize("splits", [("dev",), ("test", "test_unseen")])
def test_the_right_action_stands_anywhere_in_the_list(splits):
    seen, expected = [0.0] * BINS, [0.0] * BINS
    for split in splits:
        for _, env, right, _ in played(split):
            choices = env.available_actions()
            size = len(choices)
            seen[choices.index(right) * BINS // size] += 1
            for place in range(size):
                expected[place * BINS // size] += 1 / size
    assert min(expected) > 50
    assert sum((s - e) ** 2 / e for s, e in zip(seen, expected, strict=True)) < CRITICAL
