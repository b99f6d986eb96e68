"""SciWorld and the contract of environments."""

import pytest

from agentenv.testing import check_env
from envservers.science.sciworld.spec import SPEC

QUICK = ("card_is_sound", "splits_are_disjoint", "odd_actions_answered", "reset_in_mid_episode")
OPTIONS = {"jvms": 1}


def test_the_rules_that_matter_most_are_kept(needs):
    report = check_env(SPEC, options=OPTIONS, rules=QUICK, measured=False, budget_s=1)
    assert report.failed == [], {finding.rule: finding.detail for finding in report.findings}


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_every_rule_of_the_contract_is_kept(needs):
    report = check_env(SPEC, options=OPTIONS, measured=False)
    assert report.failed == [], {finding.rule: finding.detail for finding in report.findings}
