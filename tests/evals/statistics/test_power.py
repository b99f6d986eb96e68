"""What a suite says of itself before a run is paid for."""

import pytest

from evals.show import print_suite
from evals.statistics.planning import detectable
from evals.statistics.power import suite_power
from evals.suite import Suite, SuiteEnv, load


def test_the_smoke_suite_cannot_rank_agents_and_says_so(capsys):
    facts = suite_power(load("smoke"))
    assert (facts["tasks"], facts["effective_tasks"], facts["cannot_rank"]) == (12, pytest.approx(12), True)
    assert facts["detectable"] == pytest.approx(detectable(12))
    assert [env["tasks"] for env in facts["envs"]] == [4, 4, 4]
    print_suite(facts)
    assert "smoke cannot rank agents" in capsys.readouterr().out


def test_of_scores_nothing_is_claimed_before_there_are_runs(capsys):
    facts = suite_power(Suite(name="g", metric="mean_score", envs=(SuiteEnv(env="maze", tasks=5),)))
    assert (facts["half_width"], facts["detectable"], facts["cannot_rank"]) == (None, None, None)
    assert facts["envs"] == [{"env": "maze", "tasks": 5, "half_width": None, "detectable": None}]
    print_suite(facts)
    assert "not known before two runs" in capsys.readouterr().out
