"""What a suite says of itself before a run is paid for."""

import pytest

from evals.show import print_suite
from evals.statistics.planning import detectable
from evals.statistics.power import suite_power
from evals.suite import load


def test_the_smoke_suite_cannot_rank_agents_and_says_so(capsys):
    facts = suite_power(load("smoke"))
    assert (facts["tasks"], facts["effective_tasks"], facts["cannot_rank"]) == (12, pytest.approx(12), True)
    assert facts["detectable"] == pytest.approx(detectable(12))
    assert [env["tasks"] for env in facts["envs"]] == [4, 4, 4]
    print_suite(facts)
    assert "smoke cannot rank agents" in capsys.readouterr().out
