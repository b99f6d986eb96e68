"""By URL the contract is checked as far as the wire allows."""

from dataclasses import replace

import pytest
from broken_envs import AGAIN, GOOD
from spec_server import served

from agentenv.errors import ServerUnreachable, UnknownEnv
from agentenv.testing import Status, check_url, envs_at

BY_URL = {
    "card_is_sound",
    "asking_changes_nothing",
    "odd_actions_answered",
    "malformed_actions_count",
    "calls_out_of_order",
    "close_twice",
    "reset_in_mid_episode",
    "sessions_are_apart",
    "rewards_in_range",
}


def test_a_served_env_passes_what_the_wire_allows_and_shows_the_rest():
    with served([GOOD]) as url:
        report = check_url(url, "count")
    assert {f.rule for f in report.findings if f.status is Status.PASS} == BY_URL
    assert {f.status for f in report.findings if f.rule not in BY_URL} == {Status.NOT_CHECKABLE}
    assert report.ok
    assert report.target == url
    assert report.measured is not None
    assert report.measured.bytes_per_session is None


def test_with_an_oracle_the_solution_is_checked_too():
    with served([GOOD], oracle=True) as url:
        [finding] = check_url(url, "count", rules=["solve_succeeds"], measured=False).findings
    assert (finding.status, finding.detail) == (Status.PASS, "9 of 9 sampled tasks")


@pytest.mark.parametrize(
    ("rule", "broken"),
    [("odd_actions_answered", "Strict"), ("sessions_are_apart", "Shared"), ("reset_in_mid_episode", "Remembers")],
)
def test_a_broken_env_fails_by_url_too(rule, broken):
    with served([replace(GOOD, entry=f"broken_envs:{broken}")]) as url:
        assert check_url(url, "count", rules=[rule], measured=False).failed == [rule]


def test_a_server_tells_its_envs_and_an_unknown_one_is_named():
    with served([GOOD, AGAIN]) as url:
        assert envs_at(url) == ["count", "count_again"]
        with pytest.raises(UnknownEnv, match="no environment 'cuont'; it serves count, count_again"):
            check_url(url, "cuont")


def test_no_server_is_an_error_that_names_the_command():
    with pytest.raises(ServerUnreachable, match="agentenv serve"):
        check_url("http://127.0.0.1:9", "count")
