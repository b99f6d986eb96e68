"""People as an agent: runs that grow, one row for all of them, and when it has a rank."""

from __future__ import annotations

from dataclasses import replace

import pytest
from made_runs import ended, new_run

from agentenv.protocol import Outcome
from evals import people
from evals.harness import ResumeRefused, require_unchanged
from evals.leaderboard import leaderboard
from evals.plan import Plan
from evals.store.growing import known_tasks, place_for, plays_of

S, F, GONE = Outcome.SUCCESS, Outcome.FAILURE, Outcome.CANCELLED
SUITE_TASKS = 32


def run_of(name: str, task: int, *, hints: bool = False, tasks: int = SUITE_TASKS):
    """What a person's episode brings along: a run with the one task of a suite of `tasks`."""
    whole = new_run(f"run-{name}-{task}-{hints}", tasks=tasks)
    return replace(
        whole,
        plan=Plan(worlds=whole.plan.worlds, tasks=(whole.plan.tasks[task],), attempts=1),
        agent=people.label(hints=hints),
        agent_data=people.description(hints=hints),
        agent_settings={"name": people.HUMAN, "pseudonym": name, "hints": hints},
    )


def play(store, name: str, task: int, outcome: Outcome = S, **more) -> bool:
    """Whether the episode was stored."""
    new = run_of(name, task, **more)
    place = place_for(store.engine, new, name=name)
    if place is None:
        return False
    return store.record(place.run, place.slot, place.tries, ended(outcome, new.plan.tasks[0].task))


def row_of(store, agent: str = people.HUMAN, env: str = "all"):
    [found] = [row for row in leaderboard(store.tasks()) if (row.agent, row.env) == (agent, env)]
    return found


def test_a_run_of_a_person_grows_by_a_task_and_takes_each_once(store):
    assert [play(store, "otter", task) for task in (4, 0, 4)] == [True, True, False]
    [run] = store.runs()
    assert (run.planned, run.valid, run.tries) == (2, 2, 2)
    assert [(task.position, task.task_index) for _, task in store.tasks()] == [(0, 4), (1, 0)]
    assert store.unfinished() == []
    assert [t.task.index for t in store.trajectories(run.id)] == [4, 0]


def test_who_went_may_come_back_three_times(store):
    assert [play(store, "otter", 0, outcome) for outcome in (GONE, GONE, F, S)] == [True, True, True, False]
    [run] = store.runs()
    assert (run.planned, run.valid, run.tries) == (1, 1, 3)
    assert [play(store, "otter", 1, GONE) for _ in range(4)] == [True, True, True, False]
    assert row_of(store).measure.invalid == 1


def test_people_share_a_row_and_hints_have_their_own(store):
    play(store, "otter", 0)
    play(store, "heron", 0, F)
    play(store, "heron", 1, S)
    play(store, "newt", 2, hints=True)
    plain, hinted = row_of(store), row_of(store, people.HINTED)
    assert (plain.name, plain.status, plain.rank) == ("human (2 people, 2 tasks)", "under 3 people", None)
    assert (plain.measure.n, plain.measure.success) == (3, 0.75)
    assert hinted.name == "human with hints (1 person, 1 task)"
    assert {run.first_attempt for run in store.runs() if run.agent == people.HUMAN} == {0, 1}


def test_a_deleted_run_of_a_person_is_not_gone_on_with(store):
    play(store, "otter", 0)
    store.delete(store.runs()[0].id, reason="a test")
    assert play(store, "otter", 1)
    assert len(store.runs()) == 2


@pytest.mark.parametrize(
    ("names", "tasks", "whole", "status"),
    [
        (("a", "b"), 32, 32, "under 3 people"),
        (("a", "b", "c"), 29, 32, "under 30 tasks"),
        (("a", "b", "c"), 30, 32, "partial 30/32"),
        (("a", "b", "c"), 30, 30, "ranked"),
    ],
)
def test_people_are_ranked_when_there_are_three_and_thirty_tasks_and_nothing_is_left_out(
    store, names, tasks, whole, status
):
    for task in range(tasks):
        play(store, names[task % len(names)], task, S if task % 3 else F, tasks=whole)
    row = row_of(store)
    assert (row.status, row.people, row.played) == (status, len(names), tasks)
    assert (row.rank is not None) == (status == "ranked")


def test_a_ranked_row_of_people_stands_beside_programs(store):
    store.add_runs([new_run(tasks=30)])
    for slot in store.open_slots("s-a-1"):
        store.record(slot.run, slot.slot, slot.tries, ended(F, slot.task))
    store.finish("s-a-1")
    for task in range(30):
        play(store, "abc"[task % 3], task, tasks=30)
    assert (row_of(store).rank, row_of(store, "a").rank) == (1, 2)


def test_what_a_person_knows_and_what_was_played_least(store):
    play(store, "otter", 0)
    play(store, "otter", 1, GONE)
    play(store, "heron", 0)
    new = run_of("otter", 0)
    assert known_tasks(store.engine, "otter") == {new.plan.tasks[0].task.digest}
    plays = plays_of(store.engine, new.suite.hash)
    label = new.plan.tasks[0].label
    assert [plays(label, f"coin/test/{i}") for i in range(3)] == [2, 0, 0]


@pytest.mark.parametrize("text", [" Otter ", "a", "x" * 32, "a.b-c_d", "7"])
def test_good_pseudonyms_are_taken_in_lower_case(text):
    assert people.pseudonym(text) == text.strip().lower()


def test_a_program_cannot_go_on_with_a_run_of_a_person(store):
    play(store, "otter", 0)
    [run] = store.runs()
    store.reopen(run.id, reason="a test", overwrite=True)
    with pytest.raises(ResumeRefused, match="in the browser"):
        require_unchanged(store.run(run.id))
    assert play(store, "otter", 0)  # but the person can
