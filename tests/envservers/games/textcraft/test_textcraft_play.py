"""The grammar, the replies and the bookkeeping of TextCraft."""

import pytest
from craft_play import STICK_WORLD, env_with, fixed, say, seen, solved

from agentenv.errors import EpisodeOver, ResetNeeded
from agentenv.protocol import Action
from envservers.games.textcraft.env import COUNTED, FORMS, GET_FORM, MAX_ECHO, TextCraft
from envservers.games.textcraft.recipes import parse_craft
from envservers.games.textcraft.spec import SPEC

PLANKS_REFUSED = "Could not find planks: it is a kind of item, and those of the kind must be crafted."
UNKNOWN = "there is no raw material of that name"
EXACT = "no command makes it with exactly these counts and ingredients"


def test_any_single_member_fills_a_generic_ingredient_and_the_generic_word_itself_does_not():
    env = fixed("stick", STICK_WORLD)
    assert env.last.observation == f"Crafting commands:\n{STICK_WORLD}\n\nGoal: craft stick."
    assert seen(env, "get 2 planks") == [PLANKS_REFUSED]
    assert seen(env, "get 4 oak logs") == ["Got 4 oak logs"]
    assert seen(env, "craft 4 oak planks using 1 oak logs") == ["Crafted 4 minecraft:oak_planks"]
    assert seen(env, "craft 4 stick using 2 planks") == [
        "Could not find enough items to craft minecraft:stick: you hold 0 of 2 planks, a kind of item; "
        "write the name of one that you hold."
    ]
    before = seen(env, "inventory")
    assert before == ["Inventory: [oak logs] (3) [oak planks] (4) "]
    (won,) = say(env, "craft 4 stick using 2 oak planks")
    assert (won.observation, won.reward, won.terminated, won.success) == ("Crafted 4 minecraft:stick", 1.0, True, True)
    assert env.snapshot().held == (("oak logs", 3), ("oak planks", 2), ("stick", 4))


def test_the_goal_pays_once_and_a_step_after_the_end_is_an_error_that_changes_nothing():
    env = fixed("stick", STICK_WORLD)
    winning = "craft 4 stick using 2 oak planks"
    results = say(env, "get 1 oak logs", "craft 4 oak planks using 1 oak logs", winning)
    at_the_end = env.snapshot()
    for _ in range(3):
        with pytest.raises(EpisodeOver, match=r"call reset\(task\)"):
            env.step(Action(text=winning))
    assert env.snapshot() == at_the_end
    assert env.available_actions() == []
    assert sum(result.reward for result in results) == 1.0


@pytest.mark.parametrize(
    ("text", "reply"),
    [
        ("inventory now please", f"Could not execute inventory now please: {FORMS}."),
        ("Get 1 oak logs", "Got 1 oak logs"),
        ("get 1 oak logs, 1 birch logs", f"Could not find oak logs, 1 birch logs: {UNKNOWN}."),
        (
            "craft 4 stick  using  2 oak planks",
            "Could not find enough items to craft minecraft:stick: you hold 0 of 2 oak planks.",
        ),
        ("get 5", f"Could not execute get 5: {GET_FORM}."),
        ("  INVENTORY\t", "Inventory: You are not carrying anything."),
        ("get 1 minecraft:oak_logs", "Got 1 oak logs"),
        ("get 1 stick", "Could not find stick: it must be crafted."),
        ("get 1 stick of butter", f"Could not find stick of butter: {UNKNOWN}."),
        ("get 0 oak logs", f"Could not execute get 0 oak logs: {GET_FORM}."),
        ("get -1 oak logs", f"Could not execute get -1 oak logs: {GET_FORM}."),
        ("get 1.5 oak logs", f"Could not execute get 1.5 oak logs: {GET_FORM}."),
        ("get ٣ oak logs", f"Could not execute get ٣ oak logs: {GET_FORM}."),
        ("get 9999 oak logs", "Got 9999 oak logs"),
        ("get 0009 oak logs", "Got 9 oak logs"),
        ("get 10000 oak logs", f"Could not execute get 10000 oak logs: {GET_FORM}."),
        ("get 99999999999999999999999 oak log", f"Could not execute get 99999999999999999999999 oak log: {GET_FORM}."),
        ("get oak logs", f"Could not execute get oak logs: {GET_FORM}."),
        ("gets 1 oak logs", f"Could not execute gets 1 oak logs: {FORMS}."),
        ("craft 4 stick", f"Could not execute craft 4 stick: {FORMS}."),
        ("craft 4 stick using", f"Could not execute craft 4 stick using: {FORMS}."),
        ("craft 4 stick using oak planks", f"Could not execute craft 4 stick using oak planks: {COUNTED}."),
        ("craft 4 stick using 2 oak planks, ,2", f"Could not execute craft 4 stick using 2 oak planks, ,2: {COUNTED}."),
        ("craft using 2 oak planks", f"Could not execute craft using 2 oak planks: {FORMS}."),
        ("", f"Could not execute : {FORMS}."),
        ("get 1 oak logs\nget 1 oak logs", f"Could not find oak logs get 1 oak logs: {UNKNOWN}."),
    ],
)
def test_each_form_of_action_has_one_reading(text, reply):
    env = fixed("stick", STICK_WORLD)
    assert seen(env, text) == [reply]
    if not reply.startswith("Got"):
        assert env.snapshot().held == ()


@pytest.mark.parametrize(
    "text", ["`get 1 oak logs`", "Get 1 oak logs.", "[get 1 oak logs]", "“get 1 oak logs”", "**get 1 oak logs**"]
)
def test_marks_around_an_action_make_no_difference(text):
    assert seen(fixed("stick", STICK_WORLD), text) == ["Got 1 oak logs"]


@pytest.mark.parametrize(
    "text",
    [
        "\x00",
        "\ud800",
        "💥" * 10,
        "get " * 2000,
        "craft 1 a using " + "1 b, " * 5000,
        "get " + "9" * 10_000 + " oak logs",
    ],
)
def test_garbage_is_answered_shortly_and_changes_nothing(text):
    env = fixed("stick", STICK_WORLD)
    (result,) = say(env, text)
    assert result.observation.startswith("Could not")
    assert len(result.observation) <= 2 * (MAX_ECHO + len("...")) + len(": .")
    assert (result.reward, result.terminated, env.snapshot().held) == (0.0, False, ())


@pytest.mark.parametrize(
    "text",
    [
        "craft 1 stick using 2 oak planks",  # another yield
        "craft 8 stick using 4 oak planks",  # twice the recipe at once
        "craft 4 stick using 3 oak planks",  # other counts
        "craft 4 stick using 1 oak planks, 1 birch planks",  # two members for one ingredient
        "craft 4 stick using 1 oak planks, 1 oak planks",  # one ingredient in two parts
        "craft 4 stick using 2 oak planks, 1 oak logs",  # too much
        "craft 4 planks using 1 oak logs",  # the generic word as a result
        "craft 4 torch using 2 oak planks",  # no such recipe here
    ],
)
def test_a_craft_that_is_not_exactly_a_recipe_is_refused_and_costs_nothing(text):
    commands = f"{STICK_WORLD}\ncraft 4 birch planks using 1 birch logs"
    env = fixed("stick", commands)
    say(env, "get 2 oak logs", "craft 4 oak planks using 1 oak logs")
    say(env, "get 1 birch logs", "craft 4 birch planks using 1 birch logs")
    held = env.snapshot().held
    result = text.partition(" using ")[0].split(" ", 2)[2]
    why = EXACT if result == "stick" else "no command makes an item of that name"
    assert seen(env, text) == [f"Could not find a valid recipe for {result}: {why}."]
    assert env.snapshot().held == held


def test_the_count_of_the_result_may_be_left_out():
    env = fixed("stick", STICK_WORLD)
    assert seen(env, "get 1 oak logs", "craft oak planks using 1 oak logs")[1] == "Crafted 4 minecraft:oak_planks"


def test_a_craft_copied_whole_into_a_calls_argument_is_read():
    env = fixed("stick", STICK_WORLD)
    assert (
        seen(env, "get 1 oak logs", "craft craft 4 oak planks using 1 oak logs")[1] == "Crafted 4 minecraft:oak_planks"
    )


def test_ingredients_may_come_in_any_order_and_entries_are_matched_to_the_slots_that_need_them():
    commands = "craft 4 oak planks using 1 oak logs\ncraft 1 barrel using 1 planks, 1 oak planks, 2 flint"
    env = fixed("barrel", commands)
    say(env, "get 3 flint", "get 1 oak logs", "craft 4 oak planks using 1 oak logs")
    assert say(env, "craft 1 barrel using 2 flint, 1 oak planks, 1 oak planks")[0].success


def test_the_same_item_named_twice_is_paid_twice():
    """One plank held does not pay for two entries of one plank each."""
    env = fixed("barrel", "craft 1 oak planks using 1 oak logs\ncraft 1 barrel using 1 planks, 1 oak planks")
    say(env, "get 1 oak logs", "craft 1 oak planks using 1 oak logs")
    refused = "Could not find enough items to craft minecraft:barrel: you hold 1 of 2 oak planks."
    assert seen(env, "craft 1 barrel using 1 oak planks, 1 oak planks") == [refused]
    assert env.snapshot().held == (("oak planks", 1),)


def test_getting_over_the_largest_count_in_parts_is_refused():
    env = fixed("stick", STICK_WORLD)
    say(env, "get 9999 oak logs")
    assert seen(env, "get 1 oak logs") == [
        "Could not execute get 1 oak logs: you cannot hold more than 9999 of an item."
    ]
    assert env.snapshot().held == (("oak logs", 9999),)


def test_a_tag_that_no_group_names_is_got_under_its_own_name_and_one_that_is_craftable_is_not():
    env = fixed("torch")  # in world 0 of our table
    replies = seen(env, "get 1 coals", "get 1 stone crafting materials", "get 1 wool", "get 1 wooden slabs")
    assert replies[:2] == ["Got 1 coals", "Got 1 stone crafting materials"]
    assert replies[2:] == [PLANKS_REFUSED.replace("planks", kind) for kind in ("wool", "wooden slabs")]


def test_available_actions_are_the_inventory_the_shown_gets_and_the_shown_crafts_spelled_out():
    env = fixed("stick", STICK_WORLD)
    assert env.available_actions() == [
        "inventory",
        "get 1 oak logs",
        "get 2 planks",
        "craft 4 oak planks using 1 oak logs",
        "craft 4 stick using 2 oak planks",
    ]


def test_asking_for_actions_changes_nothing():
    task = SPEC.task_set().get("dev", 0)
    env = env_with(task)
    before = env.snapshot()
    assert env.available_actions() == env.available_actions()
    assert env.snapshot() == before


def test_a_snapshot_goes_on_in_a_fresh_env_as_the_original_does():
    task = SPEC.task_set().get("test", 0)
    env = env_with(task)
    plan = [action.text for action in env.solve(task)]
    say(env, *plan[:2])
    copy = SPEC.make()
    assert isinstance(copy, TextCraft)
    copy.restore(env.snapshot())
    assert say(copy, *plan[2:]) == say(env, *plan[2:])
    assert env.snapshot() == copy.snapshot()
    with pytest.raises(TypeError, match="what snapshot"):
        copy.restore("a string")


def test_a_reset_in_mid_episode_leaves_nothing_behind():
    first, second = (SPEC.task_set().get("train", index) for index in (0, 1))
    env = env_with(first)
    say(env, *(action.text for action in list(env.solve(first))[:2]))
    again = env.reset(second)
    assert again == env_with(second).last
    assert env.snapshot() == env_with(second).snapshot()


def test_one_env_plays_many_episodes_and_also_after_the_end():
    env = SPEC.make()
    assert isinstance(env, TextCraft)
    for index in range(3):
        assert solved(env, SPEC.task_set().get("test", index))[-1].success


def test_a_step_before_the_first_reset_says_what_to_do():
    env = SPEC.make()
    for call in (lambda: env.step(Action(text="inventory")), env.available_actions, env.snapshot):
        with pytest.raises(ResetNeeded, match=r"call reset\(task\) first"):
            call()


def test_a_recipe_has_at_most_64_ingredients():
    most = ", ".join(["1 flint"] * 64)
    recipe = parse_craft(f"1 cairn using {most}")
    assert recipe is not None
    assert len(recipe.slots) == 64
    assert parse_craft(f"1 cairn using {most}, 1 flint") is None
