"""A world here and the simulator's own interface answer alike, and worlds of one machine do not touch each other."""

import pytest

# Of every sort: free and timed actions, questions with good and bad answers, the words that the interface answers.
SCRIPT = (
    "look around",
    "inventory",
    "help",
    "task",
    "open door to hallway",
    "open door to kitchen",
    "go to kitchen",
    "objects",
    "pick up thermometer",
    "use thermometer on sink",
    "open cupboard",
    "wait1",
    "open door",
    "1",
    "open door",
    "99",
    "open door",
    "",
    "nonsense",
    "0",
    "look at table",
    "wait",
    "eat red apple",
    "reset task",
    "look around",
)
BEES = ("find-plant", 0, ("open door to greenhouse", "go to greenhouse", "open door to outside", *["wait"] * 12))
"""Animals and bees draw random numbers as time passes."""


def stock(pool, task: str, variation: int, actions, simplifications: str = "") -> list:
    """Texts, scores and ends as the interface that the stock wrapper calls gives them."""
    world = pool.load("boil", 0, "")
    with world._jvm.calls("stock"):
        world._jvm._leave()
        interface = world._jvm._interface
        interface.load(task, variation, simplifications, False)
        seen = []
        for text in actions:
            told = interface.step(text)
            seen.append((told, round(100 * interface.getScore()), interface.getCompleted()))
    return seen


def ours(world, actions) -> list:
    moves = [world.step(text) for text in actions]
    return [(move.text, move.score, move.over) for move in moves]


@pytest.mark.parametrize(("task", "variation"), [("boil", 0), ("chemistry-mix-paint-secondary-color", 5)])
@pytest.mark.parametrize("simplifications", ["", "easy"])
def test_a_world_answers_as_the_simulators_own_interface_does(pool, task, variation, simplifications):
    expected = stock(pool, task, variation, SCRIPT, simplifications)
    assert ours(pool.load(task, variation, simplifications), SCRIPT) == expected


def test_a_question_that_is_answered_by_another_action_is_dropped_and_the_action_done(pool):
    world = pool.load("boil", 0, "")
    seen = world.step("look around").text
    assert world.step("open door").text.startswith("Ambiguous request: Please enter the number")
    assert world.step("look around").text == seen
    assert world.step("0").text == "No known action matches that input."


def test_a_blank_answer_cancels_a_question(pool):
    world = pool.load("boil", 0, "")
    world.step("open door")
    assert world.step("").text.startswith("Unknown action.")
    assert world.step("0").text == "No known action matches that input."


def test_listing_the_actions_changes_nothing(pool):
    task, variation, script = BEES
    silent = pool.load(task, variation, "")
    expected = ours(silent, script)
    asked = pool.load(task, variation, "")
    seen = []
    for text in script:
        listed = asked.actions()
        assert listed == sorted(set(listed)) == asked.actions()
        seen += ours(asked, [text])
    assert seen == expected
    assert "look around" in listed


def test_worlds_that_take_turns_in_one_machine_answer_as_if_each_were_alone(pool):
    scripts = [BEES, ("boil", 0, SCRIPT), BEES, ("find-animal", 3, ("wait", *SCRIPT))]
    alone = [ours(pool.load(task, variation, ""), script) for task, variation, script in scripts]
    worlds = [pool.load(task, variation, "") for task, variation, _ in scripts]
    together = [[] for _ in scripts]
    for turn in range(max(len(script) for _, _, script in scripts)):
        for world, (_, _, script), seen in zip(worlds, scripts, together, strict=True):
            if turn < len(script):
                seen += ours(world, [script[turn]])
    assert together == alone


def test_time_draws_random_numbers_which_are_a_worlds_own(pool):
    task, variation, script = BEES
    first, second = pool.load(task, variation, ""), pool.load(task, variation, "")
    start = first.state.random
    ours(first, script)
    second.step("look around")
    assert second.state.random == start != first.state.random


def test_simplifications_stay_with_their_world(pool):
    easy, plain = pool.load("boil", 0, "easy"), pool.load("boil", 0, "")
    assert "A door to the kitchen (that is open)" in easy.step("look around").text
    assert "A door to the kitchen (that is closed)" in plain.step("look around").text
    assert easy.step("teleport to kitchen").text == "You teleport to the kitchen."
    assert plain.step("teleport to kitchen").text == "No known action matches that input."
    assert any(action.startswith("teleport to") for action in easy.actions())
    assert not any(action.startswith("teleport to") for action in plain.actions())
