"""What cheating reaches."""

import asyncio

import pytest

from agentenv.testing.controls import controls
from envservers.sql.spec import SPEC


def test_no_shortcut_gets_over_its_ceiling_on_a_part_of_the_split():
    found = asyncio.run(controls(SPEC, limit=60, seeds=1))
    assert {control.name for control in found} == {"noop", *(s.name for s in SPEC.shortcuts)}
    for control in found:
        assert control.ok, control


@pytest.mark.slow
def test_no_shortcut_gets_over_its_ceiling():
    for control in asyncio.run(controls(SPEC, seeds=1)):
        assert control.ok, control
