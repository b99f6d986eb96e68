"""What the six primitive moves do to hands, doors and boxes."""

import pytest
from babyai_worlds import draw

from envservers.embodied.babyai.mission import DROP, FORWARD, LEFT, PICKUP, RIGHT, TOGGLE
from envservers.embodied.babyai.world import World


def row(ahead, things, **options):
    """A player at (2, 3) of an empty 7 x 7 room, facing right, with `ahead` drawn from (3, 3) on."""
    line = f"#.>{ahead}".ljust(6, ".") + "#"
    picture = "\n".join(["#######", "#.....#", "#.....#", line, "#.....#", "#.....#", "#######"])
    return World(draw(picture, things, **options))


def do(world, *moves):
    for move in moves:
        world.do(move)
    return world


def place(world):
    return world.x, world.y


def test_hands_that_are_full_pick_nothing_up_and_drop_nothing_onto_a_thing():
    world = row("kb", {"k": "red key", "b": "blue ball"})
    do(world, PICKUP, FORWARD, PICKUP, DROP)
    assert world.carrying.name == "red key"
    assert world.thing_ahead.name == "blue ball"


def test_a_locked_door_stays_shut_without_its_key():
    world = do(row("d", {"d": "red locked door"}), TOGGLE, FORWARD)
    assert world.thing_ahead.state == "locked"
    assert place(world) == (2, 3)


def test_a_key_of_another_color_opens_nothing_and_stays_in_the_hands():
    world = do(row("kd", {"k": "blue key", "d": "red locked door"}), PICKUP, FORWARD, TOGGLE, FORWARD)
    assert world.thing_ahead.state == "locked"
    assert place(world) == (3, 3)
    assert world.carrying.name == "blue key"


def test_the_right_key_unlocks_for_good_and_is_not_used_up():
    world = do(row("kd", {"k": "red key", "d": "red locked door"}), PICKUP, FORWARD, TOGGLE)
    states = [world.thing_ahead.state]
    for _ in range(2):
        do(world, TOGGLE)
        states.append(world.thing_ahead.state)
    do(world, FORWARD)
    assert states == ["open", "closed", "open"]
    assert place(world) == (4, 3)
    assert world.carrying.name == "red key"


def test_a_box_that_is_toggled_leaves_what_was_in_it():
    world = do(row("b", {"b": "green box", "k": "red key"}, inside={"b": "k"}), TOGGLE)
    assert world.thing_ahead.name == "red key"
    do(world, PICKUP)
    assert world.carrying.name == "red key"
    assert world.thing_ahead is None


def test_a_box_can_be_carried_with_what_is_in_it():
    world = do(row("b", {"b": "green box", "k": "red key"}, inside={"b": "k"}), PICKUP)
    assert world.carrying.name == "green box"
    assert world.carrying.inside.name == "red key"


def test_a_wall_stops_and_each_attempt_counts():
    world = do(row("", {}), FORWARD, FORWARD, FORWARD)
    assert place(world) == (5, 3)
    changed = [world.do(FORWARD) for _ in range(3)]
    assert changed == [False, False, False]
    assert place(world) == (5, 3)
    assert world.moves == 6
    assert world.success is None


@pytest.mark.parametrize("move", [PICKUP, DROP, TOGGLE])
def test_hands_do_nothing_to_a_wall_or_to_nothing(move):
    world = row("", {})
    assert not world.do(move)
    do(world, FORWARD, FORWARD, FORWARD)
    assert not world.do(move)


def test_a_door_cannot_be_carried_and_nothing_can_be_dropped_into_it():
    world = do(row("kd", {"k": "red key", "d": "blue open door"}), PICKUP, FORWARD)
    assert not world.do(DROP)
    do(world, LEFT, DROP, RIGHT)
    assert not world.do(PICKUP)
    assert world.thing_ahead.name == "blue open door"


def test_turns_go_round():
    world = row("", {})
    headings = []
    for move in (LEFT, LEFT, LEFT, LEFT, RIGHT, RIGHT, RIGHT, RIGHT):
        do(world, move)
        headings.append(world.heading)
    assert headings == [3, 2, 1, 0, 1, 2, 3, 0]


def test_an_unknown_move_is_an_error():
    with pytest.raises(ValueError, match="no primitive move 6"):
        row("", {}).do(6)


def test_the_moves_of_a_level_are_counted_and_then_used_up():
    world = row("", {}, max_moves=2)
    do(world, LEFT)
    assert world.success is None
    do(world, LEFT)
    assert world.success is False
