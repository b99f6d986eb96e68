"""What is kept of a table: it is read while nothing has changed, and computed anew when anything has."""

import json
from collections.abc import Iterator
from dataclasses import replace

import pytest
from made_runs import ended, new_run, play_all
from sqlalchemy.engine import URL

from agentenv.protocol import Outcome, digest_of
from evals.boards import board
from evals.kept import state_hash
from evals.leaderboard import leaderboard, row_key
from evals.report import print_board
from evals.store.store import Store
from evals.verify.marks import keep_mark


@pytest.fixture
def store(file_url: URL) -> Iterator[Store]:
    with Store.open(file_url) as opened:
        yield opened


def kept(store, run):
    """What is kept of the rows of a run."""
    key = digest_of(["board", "rows", *row_key(store.run(run))])
    return key, store.cached([key])[key]


def test_a_kept_table_is_what_was_computed(store):
    store.add_runs([new_run("one", tasks=6, attempts=2), new_run("two", tasks=6, attempts=2, agent="b")])
    play_all(store, "one", lambda slot: Outcome.SUCCESS if slot % 3 else Outcome.FAILURE)
    play_all(store, "two", lambda slot: Outcome.FAILURE)
    first = board(store)
    assert [replace(row, table_hash=None) for row in first] == leaderboard(store.tasks())
    assert {row.table_hash for row in first} == {state_hash(store.runs())}
    assert board(store) == first
    assert board(store, suite="s") == first
    assert board(store, suite="t") == []


def test_tasks_that_break_their_environment_are_listed_with_the_row(store, capsys):
    store.add_runs([new_run("one", tasks=4)])
    for slot in store.open_slots("one"):
        outcome = Outcome.ENV_ERROR if slot.slot == 2 else Outcome.SUCCESS
        for number in range(3 if slot.slot == 2 else 1):
            store.record("one", slot.slot, number, ended(outcome, slot.task, error="the board \x1b[31mfell off"))
    for rows in (board(store), board(store)):  # computed, and kept
        assert [row.breaks_the_environment for row in rows] == [
            [{"task": "coin/test/2", "error": "the board \x1b[31mfell off"}]
        ] * 2
        print_board(rows)
        out = capsys.readouterr().out
        assert out.count("breaks the environment: coin/test/2: the board ⟨ESC⟩[31mfell off") == 1
        assert "incomplete: 1 tasks without a valid attempt" in out


def test_nothing_is_computed_twice_and_every_episode_makes_it_anew(store):
    store.add_runs([new_run("one", tasks=3)])
    slots = store.open_slots("one")
    store.record("one", 0, 0, ended(Outcome.SUCCESS, slots[0].task))
    board(store)
    key, (version, data) = kept(store, "one")
    rows = json.loads(data)
    rows[0]["agent"] = "as it was kept"
    store.keep({key: (version, json.dumps(rows).encode())})
    assert board(store)[0].agent == "as it was kept"
    store.record("one", 1, 0, ended(Outcome.SUCCESS, slots[1].task))
    assert [row.agent for row in board(store)] == ["a", "a"]
    assert board(store)[0].measure.n == 2


def test_the_hash_of_a_table_is_over_its_runs_in_any_order(store):
    store.add_runs([new_run("one"), new_run("two")])
    runs = store.runs()
    assert state_hash(runs) == state_hash(runs[::-1]) != state_hash(runs[:1])


def test_a_row_shows_what_verifications_found_as_long_as_the_runs_stay_as_they_were(store):
    for id_ in ("s-a-1", "s-a-2"):
        store.add_runs([new_run(id_)])
        play_all(store, id_, lambda slot: Outcome.SUCCESS)
        assert store.finish(id_)
    verdict = {"ok": True, "verified": 4, "of": 4, "mark": "verified 4/4", "at": "2026-01-31", "by": "self"}
    keep_mark(store, store.run("s-a-1"), verdict)
    assert {row.verified for row in board(store)} == {""}
    keep_mark(store, store.run("s-a-2"), verdict)
    assert {row.verified for row in board(store)} == {"verified 8/8"}
    told = board(store)[0].to_json()["verifications"]
    assert [(one["mark"], one["at"], one["by"]) for one in told] == [("verified 4/4", "2026-01-31", "self")] * 2
    store.reopen("s-a-2", reason="again", overwrite=True)
    assert {row.verified for row in board(store)} == {""}
