"""What is told, what can be done, and what is said of what cannot."""

import json

import pytest
from babyai_worlds import draw

from envservers.embodied.babyai.mission import DROP, FORWARD, LEFT, PICKUP, RIGHT, TOGGLE
from envservers.embodied.babyai.play import make_moves, moves_of
from envservers.embodied.babyai.view import look
from envservers.embodied.babyai.words import (
    CHECK,
    LONGEST_TEXT,
    UNKNOWN,
    describe,
    list_actions,
    menu_of,
    read_action,
    why_not,
)
from envservers.embodied.babyai.world import World

ROOM = """
#########
#...b...#
#.......#
#..k.r..#
#.......#
#...^...#
#########
"""
THINGS = {"b": "red ball", "k": "grey key", "r": "blue box"}


def room(picture=ROOM, things=THINGS, **options):
    return World(draw(picture, things, **options))


def menu(world):
    return menu_of(world, look(world))


def reason(world, text):
    return why_not(read_action(text), world, look(world))


def test_a_room_is_told_nearest_first_with_the_way_to_each_thing():
    assert describe(room(), look(room())) == (
        "In front of you in this room, you can see several objects: "
        "There is a grey key 1 2 steps in front of you and 1 steps to your left.  "
        "There is a blue box 1 2 steps in front of you and 1 steps to your right.  "
        "There is a red ball 1 right in front of you 4 steps away.  "
        "The room has walls around you. You are facing a wall 5 steps away. You are not carrying anything."
    )


def test_things_of_one_name_are_numbered_from_the_nearest():
    world = room("########\n#.a....#\n#......#\n#....b.#\n#..^...#\n########", {"a": "red ball", "b": "red ball"})
    seen = [(s.name, s.ahead, s.side) for s in look(world).things]
    assert seen == [("red ball 1", 1, 2), ("red ball 2", 3, -1)]


def test_an_empty_room_says_so():
    world = room("#####\n#...#\n#.^.#\n#####", {})
    assert describe(world, look(world)) == (
        "You cannot see any objects within sight. The room has walls around you. "
        "You are facing a wall 2 steps away. You are not carrying anything."
    )


def test_what_is_held_is_told_and_not_seen():
    world = room(carrying="k", things={"b": "red ball", "k": "grey key", "r": "blue box"})
    world.cells[3 * 9 + 3] = None
    assert describe(world, look(world)).endswith("You are carrying a grey key.")
    assert "grey key 1" not in describe(world, look(world))


def test_a_closed_door_hides_what_is_behind_it_and_an_open_one_does_not():
    picture = "#####\n#.b.#\n##d##\n#.^.#\n#####"
    closed = room(picture, {"b": "red ball", "d": "blue closed door"})
    opened = room(picture, {"b": "red ball", "d": "blue open door"})
    assert [s.name for s in look(closed).things] == ["blue closed door 1"]
    assert [s.name for s in look(opened).things] == ["blue open door 1", "red ball 1"]


def test_the_menu_has_every_way_to_what_is_seen():
    assert menu(room()) == {
        "turn left": (LEFT,),
        "turn right": (RIGHT,),
        "move forward": (FORWARD,),
        "pickup grey key 1": (FORWARD, FORWARD, LEFT, PICKUP),
        "pickup blue box 1": (FORWARD, FORWARD, RIGHT, PICKUP),
        "pickup red ball 1": (FORWARD, FORWARD, FORWARD, PICKUP),
        "go to grey key 1": (FORWARD, FORWARD, LEFT),
        "go to blue box 1": (FORWARD, FORWARD, RIGHT),
        "go to red ball 1": (FORWARD, FORWARD, FORWARD),
        CHECK: (),
    }


def test_what_one_faces_can_be_picked_up_but_not_gone_to():
    world = room()
    make_moves(world, menu(world)["go to grey key 1"])
    assert menu(world)["pickup grey key 1"] == (PICKUP,)
    assert "go to grey key 1" not in menu(world)
    assert reason(world, "go to grey key 1") == "No change in state."


def test_full_hands_may_drop_and_not_pick_up():
    world = room()
    make_moves(world, menu(world)["pickup grey key 1"])
    assert menu(world)["drop"] == (DROP,)
    assert not [text for text in menu(world) if text.startswith("pickup")]
    assert reason(world, "pick up grey key 1").startswith("You cannot pickup grey key 1, as there is no grey key 1")


DOORS = "#########\n#.......#\n##o#c#l##\n#.......#\n#.......#\n#...^...#\n#########"
DOOR_NAMES = {"o": "red open door", "c": "green closed door", "l": "blue locked door"}


def test_open_doors_are_gone_through_closed_ones_toggled_and_locked_ones_need_their_key():
    world = room(DOORS, DOOR_NAMES)
    through = {text: moves for text, moves in menu(world).items() if "through" in text}
    assert through == {
        "toggle and go through green closed door 1": (FORWARD, FORWARD, TOGGLE, FORWARD),
        "go through red open door 1": (FORWARD, FORWARD, LEFT, FORWARD, FORWARD, RIGHT, FORWARD),
    }


def test_with_its_key_a_locked_door_is_on_the_menu_and_toggling_it_leads_into_it():
    world = room(DOORS, {**DOOR_NAMES, "k": "blue key"}, carrying="k")
    text = "toggle and go through blue locked door 1"
    make_moves(world, menu(world)[text])
    assert (world.x, world.y) == (6, 2)
    assert world.cells[2 * 9 + 6].state == "open"


def test_toggle_is_offered_before_a_door_or_a_box_alone():
    assert "toggle" not in menu(room())
    before_box = room("#####\n#.r.#\n#.^.#\n#####")
    before_ball = room("#####\n#.b.#\n#.^.#\n#####")
    assert menu(before_box)["toggle"] == (TOGGLE,)
    assert "toggle" not in menu(before_ball)


def test_no_way_leads_round_what_stands_in_a_narrow_passage():
    world = room("#####\n#.b.#\n##k##\n#.^.#\n#####")
    assert "go to grey key 1" not in menu(world)  # it is faced already
    assert "pickup red ball 1" not in menu(world)
    assert reason(world, "go to red ball 1") == "You cannot go to red ball 1, as there is no path leading to it."


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("Pick up Red Ball 1.", "pickup red ball 1"),
        ("pickup red ball 1", "pickup red ball 1"),
        ("PICK  UP red ball", "pickup red ball 1"),
        ("pick up", "pickup"),
        ("go to red ball", "go to red ball 1"),
        ("go_to red ball 2", "go to red ball 2"),
        ("Go to the red ball.", "go to red ball 1"),
        ("pick up a grey key 2", "pickup grey key 2"),
        ("toggle and go through the green closed door", "toggle and go through green closed door 1"),
        ("toggle_and_go_through green closed door 1", "toggle and go through green closed door 1"),
        ("`Turn Left`\n", "turn left"),
        ("check", CHECK),
        ("check the available actions", CHECK),
        ("x" * (LONGEST_TEXT + 1), ""),
        ("", ""),
        ("🦊", ""),
    ],
)
def test_actions_are_read_in_any_spelling(text, read):
    assert read_action(text) == read


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("dance", UNKNOWN),
        ("go to goal", UNKNOWN),
        ("", UNKNOWN),
        ("go to pink ball 1", "You cannot go to pink ball 1, as there is no pink ball 1 in view."),
        ("go to red open door 2", "You cannot go to red open door 2, as there is no red open door 2 in view."),
        (
            "go to the red door",
            "You cannot go to red door 1, as there is no red door 1 in view, but a red open door 1.",
        ),
        (
            "toggle and go through red closed door 1",
            "You cannot toggle and go through red closed door 1, as there is no red closed door 1 in view, "
            "but a red open door 1.",
        ),
        ("go to pink door", "You cannot go to pink door 1, as there is no pink door 1 in view."),
        ("pickup red open door 1", "You cannot pickup red open door 1, as a door cannot be carried."),
        (
            "go through green closed door 1",
            "You cannot go through green closed door 1, as it is closed. You should toggle it first.",
        ),
        (
            "toggle and go through red open door 1",
            "You cannot toggle and go through red open door 1, as it is open already. You should go through it.",
        ),
        (
            "toggle and go through blue locked door 1",
            "You cannot toggle and go through blue locked door 1, as you are not carrying a key.",
        ),
    ],
)
def test_what_cannot_be_done_is_told_why(text, said):
    assert reason(room(DOORS, DOOR_NAMES), text) == said


def test_a_key_of_another_color_is_told_of():
    world = room(DOORS, {**DOOR_NAMES, "k": "red key"}, carrying="k")
    assert reason(world, "toggle and go through blue locked door 1").endswith(
        "as the color of the key you are carrying does not match the color of door."
    )
    assert reason(world, "toggle and go through red open door 1").endswith("You should go through it.")


def test_the_list_of_actions_is_json():
    line = list_actions(menu(room()))
    assert json.loads(line.removeprefix("Available actions: ")) == list(menu(room()))


def test_every_action_of_every_menu_on_a_walk_changes_something():
    world = room(DOORS, DOOR_NAMES)
    for step in range(60):
        choices = list(menu(world).items())
        before = (world.x, world.y, world.heading, [c.name if c else "" for c in world.cells])
        text, moves = choices[step % len(choices)]
        assert moves_of(text, menu(world)) == moves
        make_moves(world, moves)
        after = (world.x, world.y, world.heading, [c.name if c else "" for c in world.cells])
        assert (before == after) == (text == CHECK), text
