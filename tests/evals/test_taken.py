"""What an attempt took: tokens, time and cost, of all valid attempts and of successes alone; unknown is never 0."""

import pytest
from made_runs import ended, new_run

from agentenv.protocol import Outcome
from agentenv.trajectory import Turn
from evals.leaderboard import leaderboard

S, F = Outcome.SUCCESS, Outcome.FAILURE


def turn(reward: float = 0.0, **notes) -> Turn:
    return Turn(observation="o", action="a", reward=reward, info={"agent": notes} if notes else {})


def played(store, episodes):
    """The row of a run whose slots had these `(outcome, seconds, notes)`."""
    store.add_runs([new_run(tasks=len(episodes))])
    for slot, (outcome, seconds, notes) in zip(store.open_slots("s-a-1"), episodes, strict=True):
        turns = [turn(float(outcome is S), **notes)]
        store.record("s-a-1", slot.slot, 0, ended(outcome, slot.task, turns=turns, time={"total_s": seconds}))
    return {row.env: row for row in leaderboard(store.tasks())}


def test_cost_is_told_of_an_attempt_and_of_a_success_with_the_failures_paid_for(store):
    paid = {"prompt_tokens": 90, "completion_tokens": 10, "cost": 0.5}
    more = {"prompt_tokens": 280, "completion_tokens": 20, "cost": 1.5}
    row = played(store, [(S, 1.0, paid), (F, 3.0, more), (F, 3.0, more), (F, 3.0, more)])["coin"].to_json()
    assert (row["mean_cost"], row["cost_per_success"]) == (1.25, 5.0)
    assert (row["mean_tokens"], row["success_tokens"]) == (250.0, 100.0)
    assert (row["mean_seconds"], row["success_seconds"]) == (2.5, 1.0)


def test_a_single_attempt_that_does_not_say_leaves_tokens_and_cost_unknown(store):
    known = {"prompt_tokens": 90, "completion_tokens": 10, "cost": 0.5}
    rows = played(store, [(S, 1.0, known), (F, 3.0, {"latency_s": 0.1})])
    for row in rows.values():
        found = row.to_json()
        names = ("mean_tokens", "success_tokens", "mean_cost", "cost_per_success")
        assert [found[name] for name in names] == [None] * 4
        assert found["mean_seconds"] == pytest.approx(2.0)


def test_without_a_success_nothing_is_told_of_successes(store):
    row = played(store, [(F, 1.0, {"prompt_tokens": 9, "completion_tokens": 1, "cost": 0.0})])["all"].to_json()
    assert (row["mean_cost"], row["mean_tokens"]) == (0.0, 10.0)
    assert [row[n] for n in ("cost_per_success", "success_tokens", "success_seconds", "success_steps")] == [None] * 4
