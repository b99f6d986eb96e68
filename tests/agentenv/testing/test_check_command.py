"""`agentenv check` as it is typed."""

import json
from dataclasses import replace

import pytest
from broken_envs import AGAIN, GOOD
from spec_server import served

from agentenv import registry
from agentenv.cli.main import main


@pytest.fixture
def known(monkeypatch):
    """The toy env as a registered one, and a broken twin."""
    twin = replace(AGAIN, entry="broken_envs:ClosesOnce")
    monkeypatch.setattr(registry, "_registered", {GOOD.id: GOOD, twin.id: twin})


def run(*words: str) -> int:
    with pytest.raises(SystemExit) as exited:
        main(["check", *words])
    return int(exited.value.code or 0)


def test_a_good_env_exits_0_and_prints_its_card(known, capsys):
    assert run("count", "--rule", "close_twice", "--rule", "card_is_sound") == 0
    out = capsys.readouterr().out
    assert "count 1 in this process" in out
    assert "count: holds every rule that was checked" in out
    assert "bytes for each idle session" in out
    assert all(verb in out for verb in ("create", "reset", "step", "close"))


def test_a_broken_env_exits_1_and_names_the_rule(known, capsys):
    assert run("count_again", "--rule", "close_twice") == 1
    out = capsys.readouterr().out
    assert "count_again: breaks close_twice" in out
    assert "already closed" in out


def test_json_has_one_report_an_env(known, capsys):
    assert run("count_again", "--rule", "close_twice", "--json") == 1
    printed = json.loads(capsys.readouterr().out)
    assert list(printed) == ["ok", "reports"]
    assert printed["ok"] is False
    assert [r["rules"][0]["status"] for r in printed["reports"]] == ["fail"]


def test_by_url_every_env_is_checked_unless_one_is_chosen(capsys):
    with served([GOOD, AGAIN]) as url:
        assert run(url, "--rule", "close_twice", "--json") == 0
        assert [r["env"] for r in json.loads(capsys.readouterr().out)["reports"]] == ["count", "count_again"]
        assert run(url, "--env", "count", "--rule", "tasks_are_stable") == 0
    out = capsys.readouterr().out
    assert "not checkable by URL" in out
    assert "count_again" not in out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["count", "--rule", "no_such_rule"], "no rule 'no_such_rule'"),
        (["count", "--env", "count"], "--env chooses among a server's envs"),
        (["http://127.0.0.1:9", "--env-option", "a=1"], "the env behind a URL has its server's options"),
        (["count", "--env-option", "strid=1"], "did you mean 'stride'"),
    ],
)
def test_a_wrong_call_exits_2_and_says_why(known, capsys, words, message):
    assert run(*words) == 2
    assert message in capsys.readouterr().err


def test_a_server_that_is_not_there_exits_1(capsys):
    assert run("http://127.0.0.1:9") == 1
    assert "agentenv serve" in capsys.readouterr().err
