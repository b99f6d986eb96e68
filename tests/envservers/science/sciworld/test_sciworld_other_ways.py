import pytest

from envservers.science.sciworld.other_ways import LONGEST_HEAT, kept, other_ways
from envservers.science.sciworld.proof import FULL, play, proof, prove

BOXES = "If the trait is dominant, focus on the red box. If the trait is recessive, focus on the green box."


def test_a_wrong_box_gives_way_to_the_other_one_and_nothing_is_done_after_it():
    ways = list(other_ways(BOXES, ["pour jug", "focus on green box", "wait1"]))
    assert ways == [("pour jug", "focus on red box")]


def test_a_thing_in_the_wrong_box_goes_to_the_other_one():
    goal = (
        "If the fork is conductive, place it in the blue box. If the fork is nonconductive, place it in the orange box."
    )
    ways = list(other_ways(goal, ["connect fork to red wire", "move fork to orange box"]))
    assert ways == [("connect fork to red wire", "move fork to blue box")]


def test_a_fruit_is_named_by_its_bare_name_after_all_the_rest():
    goal = "Your task is to grow a apple. To complete the task, focus on the grown apple."
    assert list(other_ways(goal, ["wait1"])) == [("wait1", "focus on apple", "0")]


def test_a_thing_is_taken_from_the_furnace_after_fewer_moments_each():
    actions = ["activate blast furnace", "examine lead", "use thermometer on lead", "pick up pot", "open freezer"]
    ways = list(other_ways("Your task is to freeze lead.", actions))
    assert ways == [
        ("activate blast furnace", *["wait1"] * n, "pick up pot", "open freezer") for n in range(LONGEST_HEAT)
    ]


@pytest.mark.parametrize("actions", [[], ["activate blast furnace"], ["pick up pot", "activate blast furnace"]])
def test_there_is_no_other_way_where_nothing_fits(actions):
    assert list(other_ways("Your task is to freeze lead.", actions)) == []


def test_every_way_that_is_kept_was_played_to_its_end_and_succeeded():
    assert kept()
    for (task, variation), actions in kept().items():
        played = proof()[task, variation]
        assert played.score == FULL
        assert played.steps == len(actions)


def test_where_the_simulators_own_solution_fails_another_way_is_found_and_kept(new_pool, tmp_path, monkeypatch):
    from envservers.science.sciworld import other_ways as module

    monkeypatch.setattr(module, "SOLUTIONS", tmp_path / "solutions.jsonl")
    module.SOLUTIONS.touch()
    kept.cache_clear()
    pool = new_pool()
    played = prove(pool, "freeze", 11)
    assert played == proof()["freeze", 11]
    kept.cache_clear()
    assert play(pool, "freeze", 11, kept()["freeze", 11]) == played
    monkeypatch.undo()
    kept.cache_clear()


def test_the_scripted_solution_takes_the_way_that_is_kept(env, task_of):
    task = task_of("freeze", 11)
    env.last = env.reset(task)
    for action in env.solve(task):
        env.last = env.step(action)
    assert env.last.success
