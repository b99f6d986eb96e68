"""What the store locks: an episode is written whole and once, every try is kept, and counters agree with the rows."""

import json

import pytest
from made_runs import ended, new_run, play_all

from agentenv.errors import BadCall
from agentenv.protocol import Outcome
from agentenv.trajectory import Turn
from evals.store.asking import BadQuery, ask
from evals.store.store import Store, UnknownRun


def sql(store: Store, query: str) -> list[tuple]:
    return list(store.ask(query).rows)


def test_the_plan_is_there_before_the_first_episode(store):
    store.add_runs([new_run(tasks=3, attempts=2)])
    slots = store.open_slots("s-a-1")
    assert [(s.slot, s.attempt, s.task.index) for s in slots] == [
        (0, 0, 0), (1, 0, 1), (2, 0, 2), (3, 1, 0), (4, 1, 1), (5, 1, 2),
    ]  # fmt: skip
    assert store.progress("s-a-1").planned == 6


def test_runs_of_one_command_are_written_all_or_none(store):
    with pytest.raises(Exception, match=r"(?i)unique"):
        store.add_runs([new_run("one"), new_run("two"), new_run("one")])
    assert store.runs() == []


def test_an_episode_comes_back_as_it_was(store):
    store.add_runs([new_run(tasks=1)])
    task = store.open_slots("s-a-1")[0].task
    long = "a wall of text \N{SNOWMAN} " * 300
    turns = [
        Turn(observation=long, action="look", reward=0.0, messages=[{"role": "user", "content": long}]),
        Turn(observation=long, action="\x00 odd \u2028", reward=0.1, malformed="no action", token_ids=[1, 2]),
        Turn(observation="", action="", reward=1 / 3, info={"agent": {"prompt_tokens": 7, "completion_tokens": 2}}),
    ]
    episode = ended(Outcome.STEP_LIMIT, task, turns=turns, env_options={"size": 5}, error="cut at 3", score=-12.5)
    assert store.record("s-a-1", 0, 0, episode)
    [back] = store.trajectories("s-a-1")
    assert back == episode
    assert json.loads(back.to_json()) == json.loads(episode.to_json())
    assert sql(store, "SELECT COUNT(*) FROM blobs") == [(1,)]  # the same long text twice


def test_lone_surrogates_are_stored_as_the_wire_would_send_them(store):
    store.add_runs([new_run(tasks=1)])
    task = store.open_slots("s-a-1")[0].task
    turns = [Turn(observation="\ud800", action="a\udfffb", reward=0.0, malformed="\ud800?")]
    store.record("s-a-1", 0, 0, ended(Outcome.FAILURE, task, turns=turns, error="\udc00"))
    [back] = store.trajectories("s-a-1")
    assert (back.turns[0].observation, back.turns[0].action, back.error) == ("\ufffd", "a\ufffdb", "\ufffd")


def test_tokens_are_summed_and_unknown_where_one_turn_does_not_say(store):
    store.add_runs([new_run(tasks=2)])
    slots = store.open_slots("s-a-1")
    told = Turn(observation="", action="", reward=0.0, info={"agent": {"prompt_tokens": 7, "completion_tokens": 2}})
    silent = Turn(observation="", action="", reward=0.0, info={"agent": {"prompt_tokens": 5}})
    store.record("s-a-1", 0, 0, ended(Outcome.FAILURE, slots[0].task, turns=[told, told]))
    store.record("s-a-1", 1, 0, ended(Outcome.FAILURE, slots[1].task, turns=[told, silent]))
    assert [(e.prompt_tokens, e.completion_tokens) for e in store.episodes("s-a-1")] == [(14, 4), (12, None)]


def test_the_same_try_is_written_once(store):
    store.add_runs([new_run(tasks=1)])
    task = store.open_slots("s-a-1")[0].task
    assert store.record("s-a-1", 0, 0, ended(Outcome.SUCCESS, task))
    assert not store.record("s-a-1", 0, 0, ended(Outcome.FAILURE, task))
    assert not store.record("s-a-1", 0, 1, ended(Outcome.FAILURE, task))
    assert [(e.outcome, e.try_) for e in store.episodes("s-a-1")] == [("success", 0)]


def test_an_invalid_attempt_is_open_for_three_tries_and_all_are_kept(store):
    store.add_runs([new_run(tasks=2)])
    for try_, outcome in enumerate([Outcome.ENV_ERROR, Outcome.INFRA_LOST, Outcome.CANCELLED]):
        [slot] = [s for s in store.open_slots("s-a-1") if s.slot == 0]
        assert slot.tries == try_
        store.record("s-a-1", 0, try_, ended(outcome, slot.task, error="why"))
    assert [s.slot for s in store.open_slots("s-a-1")] == [1]
    assert [e.outcome for e in store.episodes("s-a-1")] == ["env_error", "infra_lost", "cancelled"]
    progress = store.progress("s-a-1")
    assert (progress.valid, progress.lost, progress.done) == (0, 1, 1)


def test_slots_that_were_tried_wait_behind_fresh_ones(store):
    store.add_runs([new_run(tasks=3)])
    store.record("s-a-1", 0, 0, ended(Outcome.INFRA_LOST, store.open_slots("s-a-1")[0].task))
    assert [s.slot for s in store.open_slots("s-a-1")] == [1, 2, 0]


def test_a_run_is_finished_only_when_every_slot_is_settled(store):
    store.add_runs([new_run(tasks=2)])
    first, second = store.open_slots("s-a-1")
    store.record("s-a-1", 0, 0, ended(Outcome.SUCCESS, first.task))
    assert not store.finish("s-a-1")
    assert store.run("s-a-1").finished_at is None
    store.record("s-a-1", 1, 0, ended(Outcome.FAILURE, second.task))
    assert store.finish("s-a-1")
    assert store.run("s-a-1").finished_at.endswith("Z")


def test_a_partial_reward_is_no_success(store):
    store.add_runs([new_run(tasks=1)])
    play_all(store, "s-a-1", lambda _: Outcome.FAILURE, reward=0.1)
    assert sql(store, "SELECT success, valid, reward_sum FROM tasks") == [(0, 1, 0.1)]


def test_an_episode_cut_at_the_limit_can_succeed_when_the_env_says_so(store):
    store.add_runs([new_run(tasks=1)])
    play_all(store, "s-a-1", lambda _: Outcome.STEP_LIMIT, success=True)
    assert sql(store, "SELECT success, valid FROM tasks") == [(1, 1)]


@pytest.mark.parametrize("outcome", list(Outcome))
def test_exactly_the_valid_outcomes_stand_in_the_denominator(store, outcome):
    counted = {"success", "failure", "step_limit", "time_limit", "context_full", "agent_error"}
    store.add_runs([new_run(tasks=1)])
    play_all(store, "s-a-1", lambda _: outcome)
    assert sql(store, "SELECT valid, invalid_tries FROM tasks") == [
        (int(outcome in counted), int(outcome not in counted))
    ]


def test_counters_agree_with_the_episodes(store):
    store.add_runs([new_run(tasks=5, attempts=3)])
    cycle = [Outcome.SUCCESS, Outcome.FAILURE, Outcome.ENV_ERROR, Outcome.STEP_LIMIT]
    for sitting in range(3):
        play_all(store, "s-a-1", lambda slot, s=sitting: cycle[(slot + s) % 4], turns=3, score=2.0)
    by_rows = sql(
        store,
        "SELECT task_id, SUM(CASE WHEN valid THEN 1 ELSE 0 END), SUM(CASE WHEN valid AND success THEN 1 ELSE 0 END),"
        " SUM(CASE WHEN valid THEN 0 ELSE 1 END), SUM(CASE WHEN valid THEN reward END),"
        " SUM(CASE WHEN valid THEN steps END), SUM(CASE WHEN valid THEN score END) FROM v_episodes GROUP BY task_id",
    )
    by_counters = sql(
        store, "SELECT task_id, valid, success, invalid_tries, reward_sum, steps_sum, score_sum FROM v_tasks"
    )
    assert sorted(by_rows) == sorted(by_counters)
    assert sum(row[1] for row in by_rows) == 15


def test_a_run_is_found_by_the_beginning_of_its_id(store):
    store.add_runs([new_run("demo-random-aa"), new_run("demo-random-ab"), new_run("demo_noop-cc")])
    assert store.run("demo-random-aa").id == "demo-random-aa"
    assert store.run("demo_").id == "demo_noop-cc"
    with pytest.raises(UnknownRun, match="several begin so: demo-random-aa, demo-random-ab"):
        store.run("demo-random")
    with pytest.raises(UnknownRun, match="agentenv eval list"):
        store.run("")
    with pytest.raises(UnknownRun, match="no run 'x%'"):
        store.run("x%")


def test_the_latest_batch_with_open_runs_is_the_one_to_resume(store):
    store.add_runs([new_run("one", batch="b1"), new_run("two", batch="b1")])
    store.add_runs([new_run("three", batch="b2", tasks=1)])
    assert [r.id for r in store.unfinished()] == ["three"]
    play_all(store, "three", lambda _: Outcome.SUCCESS)
    store.finish("three")
    assert [r.id for r in store.unfinished()] == ["one", "two"]
    assert store.unfinished("b2") == []


def test_a_task_with_the_same_error_in_all_tries_breaks_the_environment(store):
    store.add_runs([new_run(tasks=3)])
    for _ in range(3):
        for slot in store.open_slots("s-a-1"):
            same = slot.slot == 0
            error = "ValueError: boom" if same else f"other {slot.tries}"
            outcome = Outcome.ENV_ERROR if slot.slot < 2 else Outcome.INFRA_LOST
            store.record("s-a-1", slot.slot, slot.tries, ended(outcome, slot.task, error=error))
    assert store.breaking_tasks("s-a-1") == [("coin", "coin/test/0", "ValueError: boom")]
    assert store.outcomes("s-a-1") == [("coin", "env_error", 6), ("coin", "infra_lost", 3)]


def test_an_episode_that_cannot_be_written_leaves_no_trace(store):
    store.add_runs([new_run(tasks=1)])
    task = store.open_slots("s-a-1")[0].task
    broken = ended(Outcome.SUCCESS, task, turns=[Turn(observation="", action="", reward=None)])
    with pytest.raises(Exception, match=r"(?i)not.null"):
        store.record("s-a-1", 0, 0, broken)
    assert store.episodes("s-a-1") == []
    assert store.record("s-a-1", 0, 0, ended(Outcome.SUCCESS, task))


def test_the_leaderboard_view_agrees_with_the_counters(store):
    store.add_runs([new_run(tasks=4, attempts=2)])
    play_all(store, "s-a-1", lambda slot: Outcome.SUCCESS if slot < 3 else Outcome.FAILURE)
    assert sql(store, "SELECT env, tasks, n, invalid, planned, success, mean_steps FROM v_leaderboard") == [
        ("coin", 4, 8, 0, 8, 3 / 8, 2.0)
    ]


def test_what_a_run_took_counts_every_try_and_unknown_is_not_free(store):
    store.add_runs([new_run(tasks=2)])
    first, second = store.open_slots("s-a-1")
    told = Turn(
        observation="", action="", reward=0.0,
        info={"agent": {"prompt_tokens": 7, "completion_tokens": 2, "cached_tokens": 4, "cost": 0.5}},
    )  # fmt: skip
    assert (store.spent(["s-a-1"]).tokens, store.spent(["s-a-1"]).cost) == (0, None)
    store.record("s-a-1", 0, 0, ended(Outcome.INFRA_LOST, first.task, turns=[told]))
    store.record("s-a-1", 0, 1, ended(Outcome.SUCCESS, first.task, turns=[told, told]))
    store.record("s-a-1", 1, 0, ended(Outcome.FAILURE, second.task))
    spent = store.spent(["s-a-1"])
    assert (spent.episodes, spent.tokens, spent.cost) == (3, 27, 1.5)
    columns = "tokens_sum, told, cost_sum, priced, success_tokens_sum"
    assert sql(store, f"SELECT {columns} FROM v_tasks ORDER BY task_id") == [
        (18, 1, 1.0, 1, 18), (0, 0, 0.0, 0, 0),
    ]  # fmt: skip
    assert [e.cached_tokens for e in store.episodes("s-a-1")] == [4, 8, None]
    assert store.means("a")["coin"].tokens == 18
    assert store.means("b") == {}


def test_overwriting_takes_a_command_and_keeps_what_was_overwritten(store):
    store.add_runs([new_run(tasks=2)])
    play_all(store, "s-a-1", lambda _: Outcome.FAILURE)
    store.finish("s-a-1")
    assert store.reopen("s-a-1", reason="none was lost") == 0
    assert store.run("s-a-1").finished_at
    assert store.reopen("s-a-1", reason="wrong server", tasks=["coin/test/1"], overwrite=True) == 1
    [slot] = store.open_slots("s-a-1")
    assert (slot.task.index, slot.tries, slot.left) == (1, 1, 3)
    assert sql(store, "SELECT valid, success FROM v_tasks ORDER BY task_id") == [(1, 0), (0, 0)]
    assert store.record("s-a-1", 1, 1, ended(Outcome.SUCCESS, slot.task))
    assert sql(store, "SELECT valid, success FROM v_tasks ORDER BY task_id") == [(1, 0), (1, 1)]
    assert [(e.slot, e.try_, e.superseded) for e in store.episodes("s-a-1")] == [
        (0, 0, False), (1, 0, True), (1, 1, False),
    ]  # fmt: skip
    run = store.run("s-a-1")
    assert (run.reopened, run.valid, run.tries) == (1, 2, 3)
    assert [(entry["what"], entry["reason"]) for entry in run.journal] == [
        ("opened 1 settled attempts again", "wrong server")
    ]


def test_a_deleted_run_leaves_a_tombstone_that_counts(store):
    wall = [Turn(observation="x" * 5000, action="", reward=0.0), Turn(observation="y" * 5000, action="", reward=0.0)]
    store.add_runs([new_run("gone", tasks=2), new_run("stays", tasks=1)])
    play_all(store, "gone", lambda slot: Outcome.SUCCESS if slot else Outcome.FAILURE, turns=wall)
    play_all(store, "stays", lambda _: Outcome.SUCCESS, turns=wall[:1])
    before = sql(store, "SELECT * FROM v_leaderboard")
    assert store.delete("gone", reason="too large") == 2
    assert sql(store, "SELECT * FROM v_leaderboard") == before
    assert sql(store, "SELECT run_id FROM v_episodes") == [("stays",)]
    assert sql(store, "SELECT COUNT(*) FROM blobs") == [(1,)]  # the text that the other run has, too
    assert [t.turns[0].observation for t in store.trajectories("stays")] == ["x" * 5000]
    run = store.run("gone")
    assert run.deleted_at
    assert run.journal[0]["reason"] == "too large"
    assert list(store.trajectories("gone")) == []


def test_a_deleted_run_is_not_opened_again_because_its_counters_would_be_lost(store):
    store.add_runs([new_run(tasks=2)])
    play_all(store, "s-a-1", lambda _: Outcome.FAILURE)
    store.delete("s-a-1", reason="too large")
    with pytest.raises(BadCall, match="was deleted"):
        store.reopen("s-a-1", reason="once more", overwrite=True)
    assert sql(store, "SELECT valid FROM v_tasks") == [(1,), (1,)]


def test_an_open_run_that_is_deleted_takes_no_more_episodes(store):
    store.add_runs([new_run(tasks=2)])
    slot = store.open_slots("s-a-1")[0]
    store.delete("s-a-1", reason="a mistake")
    assert store.open_slots("s-a-1") == []
    assert store.unfinished() == []
    assert not store.record("s-a-1", 0, 0, ended(Outcome.SUCCESS, slot.task))
    assert not store.finish("s-a-1") or store.run("s-a-1").deleted_at


def test_what_was_computed_is_kept_until_it_is_replaced(store):
    store.keep({"a": ("1", b"one"), "b": ("1", b"two")})
    store.keep({"a": ("2", b"three")})
    assert store.cached(["a", "b", "c"]) == {"a": ("2", b"three"), "b": ("1", b"two")}


@pytest.mark.parametrize(
    "query",
    [
        "DELETE FROM runs",
        "DROP VIEW v_tasks",
        "PRAGMA query_only = OFF",
        "ATTACH DATABASE 'other.db' AS other",
        "WITH gone AS (DELETE FROM runs RETURNING id) SELECT * FROM gone",
        "SELECT 1; DELETE FROM runs",
        "/* SELECT */ UPDATE runs SET agent = 'best'",
        "SELECT load_extension('x')",
        "SELECT pg_sleep('x') FROM nothing",
        "COPY (SELECT 1) TO PROGRAM 'touch here'",
        "SELECT * FROM runs FOR UPDATE",
        "",
    ],
)
def test_a_question_changes_nothing(store, query):
    store.add_runs([new_run(tasks=1)])
    with pytest.raises(BadQuery):
        store.ask(query)
    assert [run.agent for run in store.runs()] == ["a"]


def test_a_question_is_cut_at_its_limit_and_says_so(store):
    store.add_runs([new_run(tasks=4)])
    found = store.ask("-- all of them\nSELECT task_index, '%s' AS text FROM tasks ORDER BY position", rows=3)
    assert (found.columns, found.rows, found.cut) == (["task_index", "text"], [(0, "%s"), (1, "%s"), (2, "%s")], True)
    whole = store.ask("SELECT task_index FROM tasks", rows=4)
    assert (len(whole.rows), whole.cut) == (4, False)
    assert store.ask("SELECT id FROM runs WHERE id = 'x'").rows == []
    assert store.ask("SELECT id FROM runs WHERE id = 'x'").columns == ["id"]


def test_a_question_that_takes_too_long_is_ended(store):
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT COUNT(*) FROM n"
    with pytest.raises(BadQuery):
        ask(store._engine, endless, time_limit_s=0.2)
