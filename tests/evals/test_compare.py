"""What `agentenv eval compare` locks: keys, refusals by name, and the same answer every time."""

import json

import pytest
from made_runs import ended, new_run, play_all

from agentenv.cli.main import main
from agentenv.protocol import Outcome
from agentenv.trajectory import Turn
from evals.store.store import Store

S, F, E = Outcome.SUCCESS, Outcome.FAILURE, Outcome.ENV_ERROR

KEYS = {
    "run_a", "run_b", "agent_a", "agent_b", "suite", "differences", "only_a", "only_b", "metric", "tasks", "attempts_a",
    "attempts_b", "a", "b", "difference", "difference_low", "difference_high", "p_value", "test", "ci_low", "ci_high",
    "ci_method", "pooled", "detectable", "needs", "flips", "dropped",
}  # fmt: skip


def call(capsys, *words):
    with pytest.raises(SystemExit) as stopped:
        main(words)
    out, err = capsys.readouterr()
    return stopped.value.code, out, err


def run(store, name, outcome_of, **kw):
    """A run of which every slot is settled; `outcome_of` is asked with the task's index."""
    store.add_runs([new_run(name, **{"agent": name, **kw})])
    while slots := store.open_slots(name):
        for slot in slots:
            store.record(name, slot.slot, slot.tries, ended(outcome_of(slot.task.index), slot.task))
    store.finish(name)


@pytest.fixture
def runs():
    """In the default database: b solves 6 of 20 tasks that a does not, and task 19 breaks for b."""
    with Store.open() as store:
        run(store, "a", lambda i: S if i < 8 else F, tasks=20)
        run(store, "b", lambda i: E if i == 19 else S if i < 14 else F, tasks=20)
        run(store, "other", lambda i: S, tasks=20, version="2")
        run(store, "part", lambda i: S, tasks=5, suite_tasks=20, task_limit=5)


def test_a_comparison_as_json(capsys, runs):
    code, out, _ = call(capsys, "eval", "compare", "b", "a", "--json", "--delta", "0.1")
    facts = json.loads(out)
    assert code == 0
    assert set(facts) == KEYS
    assert (facts["tasks"], facts["test"], facts["p_value"]) == (19, "mcnemar", 2 / 2**6)
    assert facts["difference"] == pytest.approx(6 / 19)
    assert (facts["difference_low"], facts["difference_high"]) == (pytest.approx(0.3), pytest.approx(0.35))
    assert facts["dropped"] == [{"env": "coin", "task": "coin/test/19", "why": "invalid in A"}]
    assert [flip["task"] for flip in facts["flips"]] == [f"coin/test/{i}" for i in range(8, 14)]
    assert [need["delta"] for need in facts["needs"]] == [pytest.approx(6 / 19), 0.1]
    assert json.loads(call(capsys, "eval", "compare", "b", "a", "--json", "--delta", "0.1")[1]) == facts


def test_a_comparison_for_people_says_who_is_better_and_what_would_tell_more(capsys, runs):
    code, out, _ = call(capsys, "eval", "compare", "b", "a")
    assert code == 0
    assert "A is better on tasks of this kind (p = 0.0312)." in out
    assert "6 tasks differ" in out
    assert "invalid in A" in out
    assert "To see 0.050: about" in out
    _, out, _ = call(capsys, "eval", "compare", "a", "a")
    assert "These tasks do not tell the two apart (p = 1)." in out


def test_other_versions_are_refused_unless_asked_for(capsys, runs):
    code, _, err = call(capsys, "eval", "compare", "a", "other")
    assert code == 2
    assert "coin version: 1 and 2" in err
    assert "--anyway" in err
    code, out, _ = call(capsys, "eval", "compare", "a", "other", "--anyway", "--json")
    assert code == 0
    assert json.loads(out)["differences"] == ["coin version: 1 and 2"]


def test_a_part_of_the_tasks_is_refused_unless_asked_for(capsys, runs):
    code, _, err = call(capsys, "eval", "compare", "part", "a")
    assert code == 2
    assert "tasks: 0 only in A, 15 only in B" in err
    facts = json.loads(call(capsys, "eval", "compare", "part", "a", "--anyway", "--json")[1])
    assert (facts["tasks"], facts["only_b"]) == (5, 15)


def test_all_runs_of_a_row_can_be_taken_together(capsys, runs):
    with Store.open() as store:
        run(store, "again", lambda i: F, tasks=20, agent="a")
    facts = json.loads(call(capsys, "eval", "compare", "b", "a", "--pooled", "--json")[1])
    assert (facts["attempts_a"], facts["attempts_b"], facts["test"]) == (19, 38, "sign_flip")
    assert facts["b"] == pytest.approx(4 / 19)
    assert json.loads(call(capsys, "eval", "compare", "b", "a", "--json")[1])["attempts_b"] == 19


def test_a_wrong_call_exits_2(capsys, runs):
    for words in (["a"], ["a", "nothing"], ["a", "b", "--delta", "2"]):
        assert call(capsys, "eval", "compare", *words)[0] == 2


def test_show_takes_a_suite_and_says_what_it_cannot_tell(capsys):
    code, out, _ = call(capsys, "eval", "show", "smoke")
    assert code == 0
    assert "smoke cannot rank agents" in out
    facts = json.loads(call(capsys, "eval", "show", "demo", "--json")[1])
    assert (facts["tasks"], len(facts["envs"])) == (90, 3)


def test_show_says_when_attempts_did_the_same_again(capsys):
    with Store.open() as store:
        for name, said in (("same", lambda slot: "go"), ("other", lambda slot: f"go {slot}")):
            store.add_runs([new_run(name, tasks=3, attempts=2, agent=name)])
            for slot in store.open_slots(name):
                turn = Turn(observation="", action=said(slot.slot), reward=0.0)
                store.record(name, slot.slot, 0, ended(F, slot.task, turns=[turn]))
    facts = {name: json.loads(call(capsys, "eval", "show", name, "--json")[1])["repeats"] for name in ("same", "other")}
    assert facts["same"] == {"greedy": False, "tasks": 3, "same": 3, "dependent": True}
    assert facts["other"] == {"greedy": False, "tasks": 3, "same": 0, "dependent": False}
    assert "attempts are not independent: all did the same" in call(capsys, "eval", "show", "same")[1]


def test_show_has_pass_at_k_by_coverage_and_raw_counts_for_small_categories(capsys):
    with Store.open() as store:
        store.add_runs([new_run("twice", tasks=24, attempts=2)])
        play_all(store, "twice", lambda slot: E if slot == 0 else S if slot % 2 else F)
    facts = json.loads(call(capsys, "eval", "show", "twice", "--json")[1])
    by_k = {row["k"]: row for row in facts["pass_at_k"]}
    assert (by_k[2]["pass_at_k"], by_k[2]["covered"], by_k[2]["tasks"]) == (None, 23, 24)
    assert by_k[1]["pass_at_k"] == pytest.approx(0.5)
    part = json.loads(call(capsys, "eval", "show", "twice", "--partial", "--json")[1])
    assert {row["k"]: row for row in part["pass_at_k"]}[2]["pass_at_k"] == pytest.approx(12 / 23)
    assert [(c["category"], c["tasks"], c["rate"], c["ci_method"]) for c in facts["categories"]] == [
        ("even", 12, 0.0, "wilson_cluster"), ("odd", 12, 1.0, "wilson_cluster"),
    ]  # fmt: skip
    with Store.open() as store:
        run(store, "few", lambda i: S, tasks=9)
    few = json.loads(call(capsys, "eval", "show", "few", "--json")[1])
    assert [(c["success"], c["n"], c["rate"], c["ci_low"]) for c in few["categories"]] == [
        (5, 5, None, None), (4, 4, None, None),
    ]  # fmt: skip
