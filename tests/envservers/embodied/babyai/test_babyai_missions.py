"""When a mission is accomplished and when it has failed."""

from babyai_worlds import draw

from envservers.embodied.babyai.layout import Both, Clause, Ordered
from envservers.embodied.babyai.mission import DROP, FORWARD, LEFT, PICKUP, RIGHT, TOGGLE
from envservers.embodied.babyai.world import World

ROOM = "#######\n#..b..#\n#.>...#\n#..k..#\n#######"
THINGS = {"b": "red ball", "k": "grey key"}
TO_BALL, TO_KEY = Clause(verb="goto", items=(0,)), Clause(verb="goto", items=(1,))


def after(mission, *moves, picture=ROOM, things=THINGS, **options):
    world = World(draw(picture, things, mission=mission, **options))
    for move in moves:
        assert world.success is None, "the mission was decided too early"
        world.do(move)
    return world.success


def test_one_has_gone_to_a_thing_once_it_is_straight_ahead():
    assert after(TO_BALL, FORWARD) is None
    assert after(TO_BALL, FORWARD, LEFT) is True


def test_in_order_the_second_alone_does_not_count():
    mission = Ordered(first=TO_BALL, then=TO_KEY)
    assert after(mission, FORWARD, RIGHT) is None
    assert after(mission, FORWARD, RIGHT, LEFT, LEFT) is None
    assert after(mission, FORWARD, LEFT, RIGHT, RIGHT) is True


def test_in_any_order_what_was_done_stays_done():
    mission = Both(one=TO_BALL, other=TO_KEY)
    assert after(mission, FORWARD, RIGHT, LEFT, LEFT) is True
    assert after(mission, FORWARD, LEFT, RIGHT, RIGHT) is True


def test_one_move_may_end_both_parts():
    mission = Ordered(first=TO_BALL, then=Clause(verb="goto", items=(0, 1)))
    assert after(mission, FORWARD, LEFT) is True


def test_a_thing_that_is_held_counts_as_picked_up_only_from_empty_hands():
    pick_up = Clause(verb="pickup", items=(0,))
    assert after(pick_up, FORWARD, LEFT, PICKUP) is True
    then = Ordered(first=TO_KEY, then=pick_up)
    assert after(then, FORWARD, LEFT, PICKUP, RIGHT, RIGHT) is None  # held already when its turn comes
    assert after(then, FORWARD, LEFT, PICKUP, RIGHT, RIGHT, LEFT, DROP, PICKUP) is True


def test_a_strict_pick_up_fails_with_another_thing():
    strict = Clause(verb="pickup", items=(0,), strict=True)
    assert after(strict, FORWARD, RIGHT, PICKUP) is False
    assert after(Clause(verb="pickup", items=(0,)), FORWARD, RIGHT, PICKUP) is None


def test_a_thing_is_put_next_to_another_by_dropping_it_there():
    picture = "#######\n#....b#\n#.>k..#\n#######"
    mission = Clause(verb="putnext", items=(1,), beside=(0,))
    to_it = (PICKUP, FORWARD, FORWARD)
    assert after(mission, *to_it, DROP, picture=picture) is True
    assert after(mission, PICKUP, FORWARD, LEFT, DROP, picture=picture) is None


def test_putting_next_to_a_thing_follows_it_when_it_was_moved():
    picture = "########\n#.b....#\n#.^k...#\n########"
    mission = Clause(verb="putnext", items=(1,), beside=(0,))
    moves = [PICKUP, LEFT, DROP]  # the ball now lies to the left of the player
    moves += [RIGHT, RIGHT, PICKUP, LEFT, DROP]  # the key above the player, where the ball was
    assert after(mission, *moves, picture=picture) is None
    moves += [PICKUP, FORWARD, LEFT, DROP]  # the key above the ball
    assert after(mission, *moves, picture=picture) is True


DOORS = "#####\n##a##\n#.^b#\n#####"
DOOR_NAMES = {"a": "red closed door", "b": "blue closed door"}


def test_a_door_is_opened_by_toggling_it_open():
    mission = Clause(verb="open", items=(0,))
    assert after(mission, TOGGLE, picture=DOORS, things=DOOR_NAMES) is True
    assert after(mission, RIGHT, TOGGLE, picture=DOORS, things=DOOR_NAMES) is None


def test_an_open_door_has_to_be_closed_first():
    mission, names = Clause(verb="open", items=(0,)), {**DOOR_NAMES, "a": "red open door"}
    assert after(mission, TOGGLE, picture=DOORS, things=names) is None
    assert after(mission, TOGGLE, TOGGLE, picture=DOORS, things=names) is True


def test_a_strict_opening_fails_with_another_door():
    strict = Clause(verb="open", items=(0,), strict=True)
    assert after(strict, RIGHT, TOGGLE, picture=DOORS, things=DOOR_NAMES) is False


def test_two_strict_openings_in_order_cannot_be_done():
    """Why two levels are dropped: the move that opens the first door is the wrong one for the second."""
    one, other = (Clause(verb="open", items=(number,), strict=True) for number in (0, 1))
    assert after(Ordered(first=one, then=other), TOGGLE, picture=DOORS, things=DOOR_NAMES) is False


def test_success_on_the_last_move_is_success():
    assert after(TO_BALL, FORWARD, LEFT, max_moves=2) is True
    assert after(TO_BALL, FORWARD, RIGHT, max_moves=2) is False
