"""What each command does, and the reference's words for it."""

import random

import pytest
from alfworld_houses import do, house, told, within

from envservers.embodied.alfworld.house import State, satisfied
from envservers.embodied.alfworld.rules import act
from envservers.embodied.alfworld.words import HELP, NOTHING_HAPPENS, listed, opening

OPEN_CABINET = ("go to cabinet 1", "open cabinet 1")
IN_CABINET = "The cabinet 1 is open. In it, you see a cup 1."


def test_the_opening_tells_room_and_task_as_the_reference_does():
    room, task = opening(house()).splitlines()
    assert room == (
        "You are in the middle of a room. Looking quickly around you, you see a cabinet 1, a countertop 1, a desk 1, "
        "a fridge 1, a microwave 1, a shelf 2, a shelf 1, and a sinkbasin 1."
    )
    assert task == "Your task is to: do it."


def test_lists_are_worded_as_in_the_reference():
    assert listed([]) == "nothing"
    assert listed(["apple 1"]) == "a apple 1"
    assert listed(["apple 1", "mug 2"]) == "a apple 1, and a mug 2"
    assert listed(["a 1", "b 2", "c 3"]) == "a a 1, a b 2, and a c 3"


@pytest.mark.parametrize(
    ("actions", "answer"),
    [
        (["look"], opening(house()).splitlines()[0]),
        (["inventory"], "You are not carrying anything."),
        (["help"], HELP),
        (["go to countertop 1"], "On the countertop 1, you see a mug 1, a apple 1, and a pan 1."),
        (["go to sinkbasin 1"], "On the sinkbasin 1, you see nothing."),
        (["go to fridge 1"], "The fridge 1 is closed."),
        (["go to fridge 1", "look"], "You are facing the fridge 1. Next to it, you see nothing."),
        ([*OPEN_CABINET], f"You open the cabinet 1. {IN_CABINET}"),
        ([*OPEN_CABINET, "close cabinet 1"], "You close the cabinet 1."),
        ([*OPEN_CABINET, "go to desk 1", "go to cabinet 1"], IN_CABINET),
        (["go to desk 1", "use desklamp 1"], "You turn on the desklamp 1."),
        (["go to desk 1", "use desklamp 1", "use desklamp 1"], "You turn off the desklamp 1."),
        (["go to desk 1", "toggle desklamp 1", "examine desklamp 1"], "This desklamp 1 is on."),
        (["go to desk 1", "examine desklamp 1"], "This desklamp 1 is off."),
        (["go to desk 1", "examine book 1"], "There's nothing special about book 1."),
        (["go to desk 1", "examine desk 1"], "On the desk 1, you see a desklamp 1, and a book 1."),
        (["go to shelf 1", "take mug 2 from shelf 1"], "You pick up the mug 2 from the shelf 1."),
        (["go to shelf 1", "take mug 2 from shelf 1", "inventory"], "You are carrying: a mug 2."),
        (["go to shelf 1", "take mug 2 from shelf 1", "examine shelf 1"], "On the shelf 1, you see nothing."),
    ],
)  # fmt: skip
def test_answers_are_the_reference_s(actions, answer):
    assert told(within(), *actions) == answer


TAKE_MUG = ("go to countertop 1", "take mug 1 from countertop 1")


@pytest.mark.parametrize(
    ("actions", "answer"),
    [
        (["go to sinkbasin 1", "clean mug 1 with sinkbasin 1"], "You clean the mug 1 using the sinkbasin 1."),
        (["go to microwave 1", "heat mug 1 with microwave 1"], "You heat the mug 1 using the microwave 1."),
        (["go to fridge 1", "cool mug 1 with fridge 1"], "You cool the mug 1 using the fridge 1."),
        (["go to sinkbasin 1", "clean mug 1 with sinkbasin 1", "examine mug 1"], "This is a clean mug 1."),
        (["go to microwave 1", "heat mug 1 with microwave 1", "examine mug 1"], "This is a hot mug 1."),
        (["go to fridge 1", "cool mug 1 with fridge 1", "examine mug 1"], "This is a cold mug 1."),
        (
            ["go to sinkbasin 1", "clean mug 1 with sinkbasin 1", "go to microwave 1", "heat mug 1 with microwave 1",
             "go to fridge 1", "cool mug 1 with fridge 1", "examine mug 1"],
            "This is a cool and clean mug 1.",
        ),
        (["inventory"], "You are carrying: a mug 1."),
    ],
)  # fmt: skip
def test_a_thing_that_is_carried_can_be_treated(actions, answer):
    assert told(within(), *TAKE_MUG, *actions) == answer


@pytest.mark.parametrize(
    "text",
    [
        "put mug 1 in/on desk 1",
        "put mug 1 in desk 1",
        "put mug 1 on desk 1",
        "PUT  Mug 1 into desk 1 ",
        "put mug 1 in/on desk 1.",
        '"put mug 1 in/on desk 1"',
        "“Put mug 1 in/on desk 1.”",
        "`put mug 1 in/on desk 1`",
        "<put mug 1 in/on desk 1>",
    ],
)
def test_every_way_of_saying_put_puts(text):
    env = within()
    assert told(env, *TAKE_MUG, "go to desk 1", text) == "You put the mug 1 in/on the desk 1."
    assert told(env, "examine desk 1") == "On the desk 1, you see a mug 1, a desklamp 1, and a book 1."


def test_move_is_the_newer_grammar_s_put():
    env = within()
    assert told(env, *TAKE_MUG, "go to desk 1", "move mug 1 to desk 1") == "You move the mug 1 to the desk 1."
    assert told(env, "inventory") == "You are not carrying anything."


@pytest.mark.parametrize(
    "actions",
    [
        [""],
        ["dance"],
        ["go to drawer 3"],
        ["go to countertop 2"],
        ["go to countertop"],
        ["go to desk 1", "go to desk 1"],
        ["OPEN SLIDING PATIO DOOR THEN GO NORTH"],
        ["go to desk 1 then open fridge 1"],
        ["go to desk 1\nopen fridge 1"],
        ["go to countertop 1, take mug 1 from countertop 1"],
        ["x" * 10_000],
        ["go to " + "desk 1 " * 2_000],
        ["open fridge 1"],
        ["go to desk 1", "open desk 1"],
        ["go to fridge 1", "close fridge 1"],
        ["go to fridge 1", "open fridge 1", "open fridge 1"],
        ["take mug 1 from countertop 1"],
        ["go to countertop 1", "take mug 2 from countertop 1"],
        ["go to countertop 1", "take mug 1 from shelf 1"],
        ["go to countertop 1", "take mug 1 with countertop 1"],
        ["go to cabinet 1", "take cup 1 from cabinet 1"],
        ["go to cabinet 1", "examine cup 1"],
        ["examine mug 1"],
        ["use desklamp 1"],
        ["go to desk 1", "use book 1"],
        [*TAKE_MUG, "take apple 1 from countertop 1"],
        [*TAKE_MUG, "put apple 1 in/on countertop 1"],
        [*TAKE_MUG, "put mug 1 in/on desk 1"],
        [*TAKE_MUG, "put mug 1 to countertop 1"],
        [*TAKE_MUG, "move mug 1 in/on countertop 1"],
        [*TAKE_MUG, "go to fridge 1", "put mug 1 in/on fridge 1"],
        [*TAKE_MUG, "clean mug 1 with sinkbasin 1"],
        [*TAKE_MUG, "go to fridge 1", "heat mug 1 with fridge 1"],
        ["go to countertop 1", "take pan 1 from countertop 1", "go to microwave 1", "heat pan 1 with microwave 1"],
        ["go to countertop 1", "take apple 1 from countertop 1", "go to desk 1", "put apple 1 in/on desk 1"],
        ["take 💥 1 from \x00 1"],
        ["go to desk ²"],
    ],
)
def test_what_cannot_be_done_says_so_and_changes_nothing(actions):
    env = within()
    do(env, "look", *actions[:-1])
    before = env.snapshot()
    assert told(env, actions[-1]) == NOTHING_HAPPENS
    after = env.snapshot()
    assert after.state.steps == before.state.steps + 1
    assert [getattr(after.state, name) for name in ("at", "held", "where", "opened", "marks")] == [
        getattr(before.state, name) for name in ("at", "held", "where", "opened", "marks")
    ]


def test_heat_takes_the_cold_away_and_the_other_way_round():
    home = house()
    mug = home.thing_of["mug 1"]
    state = State(held=mug, where=home.start.where, at=home.place_of["microwave 1"], marks=frozenset({("cool", mug)}))
    hot, _ = act(home, state, "heat mug 1 with microwave 1")
    assert hot.marks == {("hot", mug)}
    cold, _ = act(home, act(home, hot, "go to fridge 1")[0], "cool mug 1 with fridge 1")
    assert cold.marks == {("cool", mug)}


def test_no_command_makes_a_thing_or_loses_one():
    home, rng = house(), random.Random(1)
    names = [*home.places, *home.things]
    state = home.start
    for _ in range(2_000):
        verb, link = (
            rng.choice(["go to", "open", "close", "take", "put", "move"]),
            rng.choice([" from ", " in/on ", " to "]),
        )
        state, _ = act(home, state, f"{verb} {rng.choice(names)}{link}{rng.choice(names)}")
        state, _ = act(home, state, f"{verb} {rng.choice(names)}")
        away = [thing for thing, place in enumerate(state.where) if place is None]
        assert away == ([] if state.held is None else [state.held])


class TestGoals:
    """When a chore is done."""

    def test_any_thing_of_the_kind_in_any_place_of_the_kind_will_do(self):
        env = within("pick_and_place_simple-Mug-None-SinkBasin")
        result = do(env, *TAKE_MUG, "go to sinkbasin 1", "put mug 1 in/on sinkbasin 1")
        assert (result.terminated, result.success, result.reward) == (True, True, 1.0)

    def test_another_kind_will_not(self):
        env = within("pick_and_place_simple-Cup-None-SinkBasin")
        assert not do(env, *TAKE_MUG, "go to sinkbasin 1", "put mug 1 in/on sinkbasin 1").terminated

    def test_two_have_to_be_in_the_same_receptacle(self):
        env = within("pick_two_obj_and_place-Mug-None-Shelf")
        assert not do(env, *TAKE_MUG, "go to shelf 2", "put mug 1 in/on shelf 2").terminated
        assert not do(env, "go to shelf 1", "take mug 2 from shelf 1", "go to shelf 2").terminated
        assert do(env, "put mug 2 in/on shelf 2").success

    @pytest.mark.parametrize(
        ("chore", "place", "command"),
        [
            ("pick_clean_then_place_in_recep", "sinkbasin 1", "clean mug 1 with sinkbasin 1"),
            ("pick_heat_then_place_in_recep", "microwave 1", "heat mug 1 with microwave 1"),
            ("pick_cool_then_place_in_recep", "fridge 1", "cool mug 1 with fridge 1"),
        ],
    )
    def test_untreated_in_its_place_is_not_enough(self, chore, place, command):
        env = within(f"{chore}-Mug-None-Shelf")  # mug 2 lies on a shelf all along
        assert not do(env, *TAKE_MUG, "go to shelf 2", "put mug 1 in/on shelf 2").terminated
        assert not do(env, "take mug 1 from shelf 2", f"go to {place}", command).terminated
        assert do(env, "go to shelf 2", "move mug 1 to shelf 2").success

    def test_a_thing_is_looked_at_by_a_lamp_that_is_on(self):
        env = within("look_at_obj_in_light-Mug-None-DeskLamp")
        assert not do(env, "go to desk 1", "use desklamp 1").terminated
        assert not do(env, *TAKE_MUG).terminated
        assert do(env, "go to desk 1").success

    def test_a_lamp_that_is_off_again_gives_no_light(self):
        env = within("look_at_obj_in_light-Book-None-DeskLamp")
        do(env, "go to desk 1", "use desklamp 1", "use desklamp 1")
        assert not do(env, "take book 1 from desk 1").terminated
        assert do(env, "use desklamp 1").success

    def test_nothing_is_done_at_the_start(self):
        home = house("pick_clean_then_place_in_recep-Mug-None-Shelf")
        assert not satisfied(home, home.start)
