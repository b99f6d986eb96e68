"""What the board locks: what is pooled, what is ranked, what every row shows, and the keys of its JSON."""

import json

import pytest
from made_runs import ended, new_run, play_all

from agentenv.intervals import wilson, wilson_cluster
from agentenv.protocol import Outcome
from evals.leaderboard import leaderboard

S, F, E, L = Outcome.SUCCESS, Outcome.FAILURE, Outcome.ENV_ERROR, Outcome.INFRA_LOST

KEYS = {
    "run", "agent", "suite", "env", "tasks", "attempts", "n", "invalid", "success", "success_low", "success_high",
    "ci_low", "ci_high", "ci_method", "score", "verified",
    "agent_hash", "suite_hash", "world_hash", "world", "split", "reference", "runs", "unfinished", "rank", "status",
    "planned", "done", "wanted", "partial", "retried", "invalid_share", "untested", "se", "rerun_low", "rerun_high",
    "mean_return", "return_low", "return_high", "mean_steps", "success_steps", "malformed",
    "rank_low", "rank_high", "table_hash", "deleted", "extended", "reopened", "configurations", "seen", "dependent",
    "metric", "mean_score", "score_low", "score_high", "score_method", "pass_at_k", "pass_hat_k", "name", "people",
    "played", "mean_seconds", "success_seconds", "mean_tokens", "success_tokens", "mean_cost", "cost_per_success",
    "breaks_the_environment", "verifications",
}  # fmt: skip


def settle(store, run, outcome_of):
    """Play every slot until it is settled; `outcome_of` is asked with env and task index."""
    while slots := store.open_slots(run):
        for slot in slots:
            store.record(run, slot.slot, slot.tries, ended(outcome_of(slot.env, slot.task.index), slot.task))
    store.finish(run)


def board(store, **kw):
    return {(row.agent, row.env): row for row in leaderboard(store.tasks(**kw))}


def test_a_row_in_json_is_flat_and_has_exactly_these_keys(store):
    store.add_runs([new_run(tasks=2)])
    settle(store, "s-a-1", lambda env, i: S)
    for row in leaderboard(store.tasks()):
        assert set(row.to_json()) == KEYS
        json.dumps(row.to_json(), allow_nan=False)


def test_one_attempt_a_task_is_a_wilson_row(store):
    store.add_runs([new_run(tasks=10)])
    settle(store, "s-a-1", lambda env, i: S if i < 7 else F)
    row = board(store)["a", "coin"].to_json()
    interval = wilson(7, 10)
    assert (row["success"], row["ci_low"], row["ci_high"], row["ci_method"]) == (
        0.7, interval.low, interval.high, "wilson",
    )  # fmt: skip
    assert (row["n"], row["tasks"], row["attempts"], row["mean_return"], row["mean_steps"]) == (10, 10, 1, 0.7, 2.0)
    assert (row["success_low"], row["success_high"], row["score"], row["rank"]) == (0.7, 0.7, 0.7, 1)
    assert row["return_low"] < 0.7 < row["return_high"]
    assert row["world"] == "agentenv-coin-v1"


def test_45_of_90_valid_and_10_invalid_is_one_half_between_its_bounds(store):
    store.add_runs([new_run(tasks=100)])
    settle(store, "s-a-1", lambda env, i: S if i < 45 else F if i < 90 else E)
    row = board(store)["a", "coin"].to_json()
    assert (row["success"], row["success_low"], row["success_high"]) == (0.5, 0.45, pytest.approx(0.55))
    assert (row["n"], row["invalid"], row["retried"]) == (90, 10, 0)
    assert row["status"] == "incomplete: 10 tasks without a valid attempt"
    assert row["rank"] is None


def test_over_two_percent_invalid_is_incomplete_and_two_percent_is_not(store):
    store.add_runs([new_run("ok", tasks=50, attempts=2, agent="ok"), new_run("bad", tasks=50, attempts=2, agent="bad")])
    for run, broken in (("ok", 2), ("bad", 3)):
        while slots := store.open_slots(run):
            for slot in slots:
                store.record(run, slot.slot, slot.tries, ended(E if slot.slot < broken else F, slot.task))
    rows = board(store)
    assert rows["ok", "coin"].status == "ranked"
    assert rows["bad", "coin"].status == "incomplete: 3.0% invalid"
    assert rows["bad", "all"].rank is None


def test_an_attempt_that_a_later_try_made_good_is_shown_and_not_invalid(store):
    store.add_runs([new_run(tasks=3)])
    play_all(store, "s-a-1", lambda slot: L if slot == 1 else S)
    settle(store, "s-a-1", lambda env, i: S)
    row = board(store)["a", "coin"]
    assert (row.measure.n, row.measure.invalid, row.measure.retried, row.status) == (3, 0, 1, "ranked")


def test_runs_of_one_agent_are_pooled_as_further_attempts_and_the_best_is_not_picked(store):
    store.add_runs([new_run("one", tasks=6), new_run("two", tasks=6)])
    settle(store, "one", lambda env, i: S)
    settle(store, "two", lambda env, i: F if i < 3 else S)
    row = board(store)["a", "coin"]
    interval = wilson_cluster([(1, 2)] * 3 + [(2, 2)] * 3)
    assert (row.runs, row.measure.attempts, row.measure.n, row.measure.success) == (2, 2, 12, 0.75)
    assert (row.measure.ci_low, row.measure.ci_method) == (interval.low, "wilson_cluster")
    assert row.run == "two"


def test_other_worlds_suites_and_agents_are_not_pooled(store):
    store.add_runs(
        [
            new_run("one"),
            new_run("other version", version="2"),
            new_run("other suite", tasks=5),
            new_run("other agent", agent="b"),
        ]
    )
    for run in ("one", "other version", "other suite", "other agent"):
        settle(store, run, lambda env, i: S)
    rows = [row for row in leaderboard(store.tasks()) if row.env == "coin"]
    assert [row.runs for row in rows] == [1, 1, 1, 1]
    assert len({(row.suite_hash, row.world_hash) for row in rows}) == 3


def test_the_row_over_envs_is_their_unweighted_mean(store):
    store.add_runs([new_run(tasks=10, envs=("coin", "dice"))])
    settle(store, "s-a-1", lambda env, i: S if env == "coin" or i == 0 else F)
    rows = board(store)
    whole = rows["a", "all"].measure
    assert (whole.success, whole.n, whole.tasks, whole.ci_method) == (pytest.approx(0.55), 20, 20, "mover")
    coin, dice = rows["a", "coin"].measure, rows["a", "dice"].measure
    assert whole.se == pytest.approx((coin.se**2 + dice.se**2) ** 0.5 / 2)
    assert whole.ci_low < 0.55 < whole.ci_high


def test_an_env_without_a_valid_attempt_leaves_the_mean_unknown(store):
    store.add_runs([new_run(tasks=5, envs=("coin", "dice"))])
    settle(store, "s-a-1", lambda env, i: S if env == "coin" else E)
    whole = board(store)["a", "all"].to_json()
    assert (whole["success"], whole["ci_low"], whole["rank"]) == (None, None, None)
    assert (whole["success_low"], whole["success_high"]) == (0.5, 1.0)


def test_a_run_that_was_stopped_is_partial_and_unranked(store):
    store.add_runs([new_run(tasks=4)])
    slot = store.open_slots("s-a-1")[0]
    store.record("s-a-1", slot.slot, 0, ended(S, slot.task))
    row = board(store)["a", "coin"]
    assert (row.status, row.rank, row.unfinished) == ("partial 1/4", None, 1)
    assert row.measure.success == 1.0


def test_a_stopped_run_beside_a_complete_one_is_pooled_and_counted(store):
    store.add_runs([new_run("one", tasks=2), new_run("two", tasks=2)])
    settle(store, "one", lambda env, i: S)
    slot = store.open_slots("two")[0]
    store.record("two", slot.slot, 0, ended(F, slot.task))
    row = board(store)["a", "coin"]
    assert (row.runs, row.unfinished, row.measure.n, row.status) == (2, 1, 3, "ranked")
    assert row.measure.success == 0.75


def test_a_limited_run_has_a_row_of_its_own(store):
    store.add_runs([new_run("part", tasks=2, suite_tasks=4, task_limit=2), new_run("whole", tasks=4)])
    for run in ("part", "whole"):
        settle(store, run, lambda env, i: S)
    rows = [row for row in leaderboard(store.tasks()) if row.env == "coin"]
    assert [(row.run, row.status, row.rank) for row in rows] == [("whole", "ranked", 1), ("part", "partial 2/4", None)]
    assert len({row.suite_hash for row in rows}) == 1


def test_ranks_go_by_score_with_ties_and_leave_references_out(store):
    runs = [new_run(name, tasks=4, agent=name, reference=name == "oracle") for name in ("oracle", "x", "y", "z")]
    store.add_runs(runs)
    for run, hits in (("oracle", 4), ("x", 1), ("y", 3), ("z", 1)):
        settle(store, run, lambda env, i, hits=hits: S if i < hits else F)
    rows = [row for row in leaderboard(store.tasks()) if row.env == "coin"]
    assert [(row.agent, row.rank, row.status) for row in rows] == [
        ("y", 1, "ranked"), ("x", 2, "ranked"), ("z", 2, "ranked"), ("oracle", None, "reference"),
    ]  # fmt: skip


def test_the_rows_of_one_suite_can_be_asked_for(store):
    store.add_runs([new_run("one", suite="s"), new_run("two", suite="t")])
    assert {row.suite for row in leaderboard(store.tasks(suite="t"))} == {"t"}
    assert leaderboard(store.tasks(suite="u")) == []


def test_nothing_played_is_unknown_not_zero(store):
    store.add_runs([new_run(tasks=3)])
    row = board(store)["a", "coin"].to_json()
    unknown = ("success", "success_low", "ci_low", "ci_method", "se", "mean_return", "mean_steps", "malformed", "score")
    assert [row[name] for name in unknown] == [None] * len(unknown)
    assert (row["n"], row["invalid"], row["status"]) == (0, 0, "partial 0/3")
