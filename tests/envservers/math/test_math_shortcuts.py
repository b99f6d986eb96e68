"""Agents that do not think, and how far they get."""

import asyncio
import random

import pytest

from agentenv.agents.base import Seat
from agentenv.agents.shortcut import shortcut_of
from agentenv.testing.controls import controls
from envservers.math.shortcuts import LastNumber, MostCommon, Product, Sum, TwoNumbers
from envservers.math.spec import SPEC

TEXT = "Ada has 3 bowls, twice as many as Boris. It is 2.5 degrees."


def said(agent, text=TEXT, index=0):
    async def play():
        task = SPEC.task_set().get("test", index).ref()
        await agent.start(Seat(spec=SPEC, task=task, view=None, max_steps=1, rng=random.Random(0)))
        return (await agent.act(text)).action.text

    return asyncio.run(play())


def test_each_does_what_its_name_says():
    assert said(LastNumber()) == "#### 2.5"
    assert said(Sum()) == "#### 7.5"
    assert said(Product()) == "#### 15"
    assert said(TwoNumbers()).startswith("#### ")


def test_the_most_common_answer_is_one_of_train_for_the_template():
    template = SPEC.task_set().get("test", 0).template
    answers = [
        t.payload["answer"]
        for t in (SPEC.task_set().get("train", index) for index in range(7_000))
        if t.template == template
    ]
    assert said(MostCommon()).removeprefix("#### ") in answers


def test_the_ceilings_are_those_that_the_card_promises():
    ceilings = {s.name: s.ceiling for s in SPEC.shortcuts}
    assert ceilings == {"most_common": 0.02, "last_number": 0.03, "sum": 0.05, "product": 0.05, "two_numbers": 0.05}
    for name in ceilings:
        assert shortcut_of(SPEC, name).split == "test"


def test_no_shortcut_gets_over_its_ceiling_on_a_part_of_the_split():
    for control in asyncio.run(controls(SPEC, limit=100, seeds=1)):
        assert control.ok, control
        assert control.tasks == 100


@pytest.mark.slow
def test_no_shortcut_gets_over_its_ceiling_on_the_whole_split():
    for control in asyncio.run(controls(SPEC)):
        assert control.ok, control
        assert control.tasks == 1_000
