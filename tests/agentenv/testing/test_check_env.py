"""The executable contract: good envs pass it, and each rule has an env that breaks exactly that rule."""

import asyncio
import json
from dataclasses import replace

import pytest
from broken_envs import ASYNC, BROKEN, GOOD, Count

from agentenv.errors import BadCall, EnvFailed, UnknownEnv
from agentenv.protocol import StepResult, Task
from agentenv.registry import Concurrency
from agentenv.testing import Report, Status, check_env
from agentenv.testing.rules.table import RULES

SESSIONS = 150


def check(spec, **how) -> Report:
    return check_env(spec, sessions=SESSIONS, measured=False, **how)


@pytest.mark.parametrize("concurrency", [Concurrency.INLINE, Concurrency.ANY_THREAD])
def test_a_good_env_passes_every_rule(concurrency):
    report = check(replace(GOOD, concurrency=concurrency))
    assert {f.rule: f.detail for f in report.findings if f.status is not Status.PASS} == {}
    assert [f.rule for f in report.findings] == [rule.name for rule in RULES]


def test_an_async_env_passes_every_rule():
    report = check(ASYNC)
    assert {f.rule: f.detail for f in report.findings if f.status is not Status.PASS} == {}


@pytest.mark.parametrize(("rule", "spec"), BROKEN, ids=[f"{r}-{s.entry.partition(':')[2]}" for r, s in BROKEN])
def test_an_env_that_breaks_one_rule_fails_by_exactly_that_rule(rule, spec):
    report = check(spec)
    assert report.failed == [rule], {f.rule: f.detail for f in report.findings if f.status is Status.FAIL}
    assert not report.ok


def test_every_rule_has_an_env_that_breaks_it():
    assert {rule for rule, _ in BROKEN} == {rule.name for rule in RULES}


def test_rules_that_the_card_excludes_are_not_applicable():
    report = check(replace(GOOD, solvable=False, snapshots=False))
    found = {f.rule: f.detail for f in report.findings if f.status is Status.NOT_APPLICABLE}
    assert found == {
        "solve_succeeds": "the card says solvable=False",
        "snapshots_restore": "the card declares no snapshots",
    }
    assert report.ok


def test_single_rules_can_be_asked_for_and_an_unknown_one_is_named():
    assert [f.rule for f in check(GOOD, rules=["close_twice"]).findings] == ["close_twice"]
    with pytest.raises(BadCall, match="no rule 'close_thrice'; the rules are card_is_sound"):
        check(GOOD, rules=["close_thrice"])


def test_a_failure_says_where_and_what_differs():
    spec = dict(BROKEN)["same_bytes_elsewhere"]
    [finding] = check(spec, rules=["same_bytes_elsewhere"]).findings
    assert "in another process: step" in finding.detail
    assert "heads" in finding.detail or "tails" in finding.detail


def test_an_env_that_cannot_begin_an_episode_raises_what_it_raised():
    with pytest.raises(EnvFailed, match="no engine here"):
        check(replace(GOOD, entry="test_check_env:NeverBegins"))


class NeverBegins(Count):
    def reset(self, task: Task) -> StepResult:
        raise RuntimeError("no engine here")


def test_an_unknown_env_is_named():
    with pytest.raises(UnknownEnv, match="no environment 'cuont'"):
        check_env("cuont")


def test_what_is_measured_has_every_verb():
    measured = check_env(GOOD, rules=["card_is_sound"]).measured
    assert measured is not None
    assert set(measured.verbs) == {"create", "reset", "step", "close"}
    assert all(0 < v.p50_ms <= v.p99_ms and v.n >= 3 for v in measured.verbs.values())
    assert measured.steps_per_s > 0
    assert measured.bytes_per_session > 0


def test_a_report_is_json_with_stable_keys():
    report = json.loads(json.dumps(check_env(GOOD, rules=["close_twice"]).to_dict(), allow_nan=False))
    assert list(report) == ["env", "version", "target", "ok", "rules", "measured"]
    assert list(report["rules"][0]) == ["rule", "status", "statement", "detail", "seconds"]
    assert list(report["measured"]) == ["steps_per_s", "bytes_per_session", "verbs"]


def test_check_env_works_inside_a_running_event_loop():
    async def notebook() -> bool:
        return check(GOOD, rules=["close_twice"]).ok

    assert asyncio.run(notebook())


def test_a_slow_env_is_given_fewer_sessions_and_the_report_says_so():
    [finding] = check_env(
        replace(GOOD, entry="test_check_env:Slow", concurrency=Concurrency.ANY_THREAD),
        rules=["sessions_leave_nothing"],
        budget_s=1.0,
        measured=False,
    ).findings
    assert finding.status is Status.PASS
    assert "(not 1000: one takes" in finding.detail


class Slow(Count):
    def reset(self, task: Task) -> StepResult:
        import time

        time.sleep(0.02)
        return super().reset(task)
