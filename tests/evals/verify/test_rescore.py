"""Stored answers judged by a scorer that changed."""

import asyncio
from dataclasses import replace

import coin_env
import pytest

from agentenv import registry
from agentenv.errors import BadCall
from evals.harness import Player, play_runs, start
from evals.leaderboard import leaderboard
from evals.suite import parse
from evals.verify.marks import marks
from evals.verify.rescore import rescore

SUITE = {"name": "s", "envs": [{"env": "coin"}]}


class Lenient(coin_env.Coin):
    """Any side is right."""

    def step(self, action):
        result = super().step(action)
        return replace(result, success=True, reward=1.0) if result.terminated else result


@pytest.fixture
def scored(store, monkeypatch):
    """A run of coins by chance, and another scorer installed since."""
    decided = replace(coin_env.SPEC, last_action_decides=True)
    monkeypatch.setattr(registry, "all_specs", lambda: {"coin": decided})
    [run] = start(store, parse(SUITE, where="s"), [Player(name="random")])
    asyncio.run(play_runs(store, [run]))
    monkeypatch.setattr(coin_env, "Lenient", Lenient, raising=False)
    newer = replace(decided, version="2", entry="coin_env:Lenient")
    monkeypatch.setattr(registry, "all_specs", lambda: {"coin": newer})
    return run


def test_answers_are_judged_again_in_a_run_of_their_own(store, scored):
    before = [t.success for t in store.trajectories(scored)]
    found = rescore(store, scored)
    after = list(store.trajectories(found.run))
    assert all(t.success and t.env_version == "2" for t in after)
    assert len(found.now_right) == before.count(False) > 0
    assert not found.now_wrong
    assert [t.success for t in store.trajectories(scored)] == before
    assert [[turn.action for turn in t.turns] for t in after] == [
        [turn.action for turn in t.turns] for t in store.trajectories(scored)
    ]


def test_the_two_runs_share_no_table_and_the_new_one_says_what_it_is(store, scored):
    found = rescore(store, scored)
    rows = [row for row in leaderboard(store.tasks()) if row.env == "all"]
    assert len({row.world_hash for row in rows}) == len(rows) == 2
    assert store.run(found.run).worlds[0]["version"] == "1, scored by 2"
    assert marks(store, store.runs())[found.run]["mark"] == "rescored 12/12"


def test_an_env_that_looks_at_more_than_the_last_action_is_refused(store, monkeypatch):
    monkeypatch.setattr(registry, "all_specs", lambda: {"coin": coin_env.SPEC})
    [run] = start(store, parse(SUITE, where="s"), [Player(name="random")])
    asyncio.run(play_runs(store, [run]))
    with pytest.raises(BadCall, match="more than the last action decides"):
        rescore(store, run)
    assert len(store.runs()) == 1
