import asyncio

import pytest

from agentenv.testing.controls import controls
from envservers.search.spec import SPEC


def test_no_shortcut_gets_over_its_ceiling(world):
    names = ["noop", "top_title", "first_named", "unanswerable"]
    found = asyncio.run(controls(SPEC, options={"size": "small"}, names=names, seeds=1))
    for control in found:
        assert control.ok, control
    assert {control.name: control.tasks for control in found} == dict.fromkeys(names, 100)


def test_saying_unanswerable_wins_exactly_the_questions_without_an_answer(world):
    [found] = asyncio.run(controls(SPEC, options={"size": "small"}, names=["unanswerable"], seeds=1))
    assert found.by_category == {"comparison": 0.0, "multi-hop": 0.0, "single-hop": 0.0, "unanswerable": 1.0}


@pytest.mark.slow
def test_the_most_frequent_answers_of_train_get_nowhere():
    [found] = asyncio.run(controls(SPEC, names=["frequent"], seeds=1))
    assert found.ok, found
