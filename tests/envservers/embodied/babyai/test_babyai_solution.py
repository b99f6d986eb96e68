"""The scripted solution: what it finds, what it may know, and what it leaves to minigrid's bot."""

import copy

import pytest

pytest.importorskip("minigrid")

from babyai_worlds import draw

from envservers.embodied.babyai.bot import bot_plan
from envservers.embodied.babyai.generate import make_layout
from envservers.embodied.babyai.layout import Both, Clause, Ordered
from envservers.embodied.babyai.planner import Planner, plan
from envservers.embodied.babyai.possible import is_possible
from envservers.embodied.babyai.solution import solution
from envservers.embodied.babyai.world import World


def planned(picture, things, mission, **options):
    return plan(World(draw(picture, things, mission=mission, **options)))


def test_what_is_seen_is_reached_by_one_action():
    picture = "#######\n#..b..#\n#.....#\n#.^...#\n#######"
    assert planned(picture, {"b": "red ball"}, Clause(verb="goto", items=(0,))) == ["go to red ball 1"]
    assert planned(picture, {"b": "red ball"}, Clause(verb="pickup", items=(0,))) == ["pickup red ball 1"]


def test_a_key_is_fetched_before_its_door():
    picture = "#######\n#..#..#\n#k.d.b#\n#^.#..#\n#######"
    things = {"k": "red key", "d": "red locked door", "b": "green ball"}
    actions = planned(picture, things, Clause(verb="goto", items=(2,)))
    assert actions.index("pickup red key 1") < actions.index("toggle and go through red locked door 1")


def test_hands_are_emptied_before_something_else_is_picked_up():
    picture = "#######\n#..#..#\n#k.d.b#\n#^.#..#\n#######"
    things = {"k": "red key", "d": "red locked door", "b": "green ball"}
    actions = planned(picture, things, Clause(verb="pickup", items=(2,)))
    assert actions[-1] == "pickup green ball 1"
    assert "drop" in actions


def test_what_stands_in_the_way_is_carried_off():
    picture = "######\n#b...#\n##k###\n#....#\n#.^..#\n######"
    actions = planned(picture, {"k": "grey key", "b": "red ball"}, Clause(verb="goto", items=(1,)))
    assert actions[0] == "pickup grey key 1"
    assert actions[-1] == "go to red ball 1"


def test_a_key_is_looked_for_in_a_box_when_there_is_none_elsewhere():
    picture = "#####\n#.d.#\n#...#\n#b^.#\n#####".replace("#.d.#", "##d##")
    things = {"d": "red locked door", "b": "green box", "k": "red key"}
    actions = planned(picture, things, Clause(verb="open", items=(0,)), inside={"b": "k"})
    assert actions.index("toggle") < actions.index("pickup red key 1")


def test_order_is_kept():
    picture = "#######\n#.a.b.#\n#.....#\n#..^..#\n#######"
    things = {"a": "red ball", "b": "blue ball"}
    one, other = Clause(verb="goto", items=(0,)), Clause(verb="goto", items=(1,))
    assert planned(picture, things, Ordered(first=other, then=one))[0] == "go to blue ball 1"
    assert planned(picture, things, Ordered(first=one, then=other))[0] == "go to red ball 1"
    assert planned(picture, things, Both(one=one, other=other)) is not None


def test_a_thing_held_from_the_start_is_put_down_in_the_second_move_at_the_earliest():
    picture = "#######\n#....b#\n#...>.#\n#######"
    mission = Clause(verb="putnext", items=(0,), beside=(1,))
    actions = planned(picture, {"k": "grey key", "b": "red ball"}, mission, carrying="k")
    assert actions[0] == "turn left"
    assert actions[-1] == "drop"


def test_the_world_that_is_planned_for_stays_as_it_is():
    world = World(make_layout("UnlockPickup", 2))
    before = [cell and cell.name for cell in world.cells]
    plan(world)
    assert (world.moves, world.success) == (0, None)
    assert [cell and cell.name for cell in world.cells] == before


def played(world, actions):
    planner = Planner(copy.deepcopy(world))
    for text in actions:
        planner.do(text)
    return planner


@pytest.mark.parametrize("level", ["GoToObjMaze", "Unlock", "Synth"])
def test_a_plan_depends_on_nothing_that_was_not_seen(level):
    """Without the things and doors that were not seen so far, the next action is the same."""
    world = World(make_layout(level, 3))
    actions = plan(world)
    compared = 0
    for step in range(0, min(len(actions), 24), 3):
        planner = played(world, actions[:step])
        emptied = copy.deepcopy(world)
        for cell, thing in enumerate(emptied.cells):
            if not planner.explored.seen[cell] and thing is not None and thing.kind != "wall":
                emptied.cells[cell] = None
        assert played(emptied, actions[:step]).next_action() == actions[step]
        compared += 1
    assert compared > 2


def test_a_plan_goes_on_from_the_middle_of_an_episode():
    world = World(make_layout("KeyCorridorS3R2", 5))
    whole = solution("KeyCorridorS3R2", 5, world)
    planner = Planner(world)
    for text in whole[:6]:
        planner.do(text)
    assert solution("KeyCorridorS3R2", 5, world) is not None


def test_minigrids_bot_solves_by_primitive_moves():
    actions = bot_plan("UnlockPickup", 3, World(make_layout("UnlockPickup", 3)))
    assert set(actions) <= {"turn left", "turn right", "move forward", "pickup", "drop", "toggle"}


def test_a_bot_that_fails_or_goes_round_in_circles_has_no_plan():
    assert bot_plan("KeyInBox", 0, World(make_layout("KeyInBox", 0))) is None
    assert bot_plan("GoToImpUnlock", 6, World(make_layout("GoToImpUnlock", 6))) is None


def test_a_key_behind_its_own_door_makes_a_mission_impossible():
    picture = "#######\n#..#k.#\n#..d.b#\n#^.#..#\n#######"
    things = {"k": "red key", "d": "red locked door", "b": "green ball"}
    locked_in = draw(picture, things, mission=Clause(verb="goto", items=(2,)))
    at_hand = draw(picture, things, mission=Clause(verb="goto", items=(2,)), carrying="k")
    assert not is_possible(locked_in)
    assert is_possible(at_hand)
    assert not is_possible(draw(picture, things, mission=Clause(verb="open", items=(1,))))


def test_worlds_known_to_be_impossible_are_told_from_those_that_are_not():
    assert not is_possible(make_layout("GoToImpUnlock", 6))
    assert is_possible(make_layout("GoToImpUnlock", 5))
    assert not is_possible(make_layout("OpenDoorsOrderN4Debug", 0))
    assert solution("GoToImpUnlock", 6, World(make_layout("GoToImpUnlock", 6))) is None
