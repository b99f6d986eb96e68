"""`agentenv bench`: every way does the same work. No rate is asserted, only that there is one."""

import asyncio
import json

import pytest
from broken_envs import AGAIN, ASYNC, GOOD
from spec_server import served

from agentenv.cli.main import main
from agentenv.testing.bench import WAYS, bench_env, read_counts
from agentenv.testing.players import ObjectPlayer
from agentenv.testing.rates import plan_work


def run(*words: str) -> int:
    with pytest.raises(SystemExit) as exited:
        main(["bench", *words])
    return int(exited.value.code or 0)


@pytest.mark.parametrize("spec", [GOOD, ASYNC])
def test_every_way_is_measured_at_every_number_of_sessions(spec):
    with served([spec]) as url:
        result = bench_env(spec, url, sessions=(1, 3), seconds=0.05)
    assert {(row.way, row.sessions) for row in result.rows} == {(way, n) for way in WAYS for n in (1, 3)}
    assert all(row.steps_per_s > 0 for row in result.rows)


def test_the_work_is_one_whole_episode_and_always_the_same():
    task = GOOD.task_set({}).get("test", 0)

    async def plan():
        return await plan_work(ObjectPlayer(GOOD, GOOD.make), task)

    one, other = asyncio.run(plan()), asyncio.run(plan())
    assert one == other
    assert set(one.actions) <= {"up", "down"}
    assert 2 <= len(one.actions) <= 12


def test_json_by_url_has_stable_keys(capsys):
    with served([GOOD]) as url:
        assert run(url, "--sessions", "2", "--seconds", "0.05", "--json") == 0
        printed = json.loads(capsys.readouterr().out)
    assert list(printed) == ["env", "target", "task", "actions", "seconds", "loop", "machine", "rows"]
    assert printed["target"] == url
    assert [row["way"] for row in printed["rows"]] == ["http", "http batch", "websocket", "websocket batch"]
    assert all(list(row) == ["way", "sessions", "steps_per_s"] for row in printed["rows"])


def test_a_local_env_gets_a_server_of_its_own(capsys):
    assert run("wordle", "--sessions", "1", "--seconds", "0.05") == 0
    out = capsys.readouterr().out
    assert "wordle in this process" in out
    assert all(way in out for way in WAYS)


def test_a_server_with_several_envs_wants_one_chosen(capsys):
    with served([GOOD, AGAIN]) as url:
        assert run(url) == 2
    assert "serves count, count_again; choose one with --env" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["", "1,x", "0,4"])
def test_numbers_of_sessions_that_make_no_sense_are_refused(capsys, text):
    assert run("wordle", "--sessions", text) == 2
    assert f"--sessions {text!r}" in capsys.readouterr().err


def test_numbers_of_sessions_are_read_in_their_order():
    assert read_counts("8,1,64") == (8, 1, 64)
