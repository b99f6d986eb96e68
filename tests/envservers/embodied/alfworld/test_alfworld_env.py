"""The environment as a session plays it."""

import asyncio
import random
import re
from dataclasses import replace

import pytest
from alfworld_houses import do, told, within

from agentenv.errors import EnvFailed, EpisodeOver, ResetNeeded
from agentenv.protocol import Action
from agentenv.server.sessions import Sessions
from agentenv.wire import CreateBody, CreateCall, StepBody, StepCall
from envservers.embodied.alfworld.env import AlfWorld
from envservers.embodied.alfworld.spec import SPEC
from envservers.embodied.alfworld.words import NOTHING_HAPPENS

TASKS = SPEC.task_set()
TAKE_MUG = ("go to countertop 1", "take mug 1 from countertop 1")


def started(index=0, split="test", **options):
    env = AlfWorld(**options)
    env.last = env.reset(TASKS.get(split, index))
    return env


def listed(observation):
    return observation.splitlines()[-1].removeprefix("AVAILABLE ACTIONS: ").split(", ")


def test_the_first_observation_has_room_task_and_actions():
    room, task, actions = started().last.observation.splitlines()
    assert room.startswith("You are in the middle of a room. Looking quickly around you, you see a ")
    assert task.startswith("Your task is to: ")
    assert actions.startswith("AVAILABLE ACTIONS: ")


def test_a_game_is_named_as_the_reference_names_it():
    task = TASKS.get("test", 3)
    assert re.fullmatch(r"pick_clean_then_place_in_recep-\w+-None-\w+", task.template)
    kind = started(3).last.info["task_type"]
    assert re.fullmatch(rf"{task.template}-{task.payload['room']}/trial_\d+", kind)


def test_the_list_is_what_available_actions_tells_and_may_be_left_out():
    env, silent = started(), started(list_actions=False)
    assert "AVAILABLE" not in silent.last.observation
    for text in [action.text for action in started().solve(TASKS.get("test", 0))][:-1]:
        shown, bare = told(env, text), told(silent, text)
        assert listed(shown) == env.available_actions() == silent.available_actions()
        assert bare == "\n".join(shown.splitlines()[:-1])


@pytest.mark.parametrize("grammar", ["put", "move"])
def test_the_list_holds_all_that_does_something_and_nothing_else(grammar):
    rng = random.Random(grammar)
    for index in range(12):
        env, other = started(index, grammar=grammar, list_actions=False), AlfWorld(list_actions=False)
        for _ in range(25):
            choices = env.available_actions()
            assert len(set(choices)) == len(choices)
            for text in choices:
                other.restore(env.snapshot())
                assert told(other, text) != NOTHING_HAPPENS, text
            if do(env, rng.choice(choices)).terminated:
                break


def test_the_list_uses_the_words_of_the_grammar_and_both_are_understood():
    for grammar, words in (("put", "put mug 1 in/on countertop 1"), ("move", "move mug 1 to countertop 1")):
        env = within(grammar=grammar)
        do(env, *TAKE_MUG)
        assert [text for text in env.available_actions() if text.startswith(("put", "move"))] == [words]
    assert told(env, "put mug 1 in/on countertop 1") == "You put the mug 1 in/on the countertop 1."
    assert AlfWorld(grammar="move").reset(TASKS.get("test", 0)).info["grammar"] == "move"


def test_every_command_that_is_not_in_the_list_does_nothing():
    env, other, rng = within(), AlfWorld(list_actions=False), random.Random(2)
    names = [*env.snapshot().house.places, *env.snapshot().house.things]
    heads, links = ["go to", "open", "close", "examine", "use"], ["from", "in/on", "with"]
    for _ in range(60):
        choices = env.available_actions()
        single = [f"{head} {name}" for head in heads for name in names]
        pairs = [
            f"{verb} {thing} {link} {place}"
            for verb, link in zip(["take", "put", "clean"], links, strict=True)
            for thing in rng.sample(names, 3)
            for place in names
        ]
        for text in set(single + pairs) - set(choices):
            other.restore(env.snapshot())
            assert told(other, text) == NOTHING_HAPPENS, text
        if do(env, rng.choice(choices)).terminated:
            break


@pytest.mark.parametrize("grammar", ["put", "move"])
def test_the_solution_looks_for_what_it_needs_and_succeeds(grammar):
    for index in range(0, 200, 7):
        env = started(index, grammar=grammar)
        for action in env.solve(TASKS.get("test", index)):
            assert action.text in env.available_actions()
            do(env, action.text)
        assert env.last.success


def test_the_end_is_told_without_a_list_and_nothing_can_be_done_after_it():
    env = started()
    results = [do(env, action.text) for action in env.solve(TASKS.get("test", 0))]
    assert [result.reward for result in results] == [0.0] * (len(results) - 1) + [1.0]
    assert results[-1].success
    assert "AVAILABLE" not in results[-1].observation
    assert env.available_actions() == []
    with pytest.raises(EpisodeOver, match="this chore is done") as caught:
        do(env, "look")
    assert caught.value.extra["outcome"] == "success"


def test_a_step_before_reset_says_what_to_do():
    with pytest.raises(ResetNeeded, match=r"call reset\(task\) first"):
        AlfWorld().step(Action(text="look"))
    with pytest.raises(ResetNeeded):
        AlfWorld().available_actions()


def test_a_copy_goes_on_alike_and_apart():
    env, rng = started(5), random.Random(0)
    for _ in range(10):
        do(env, rng.choice(env.available_actions()))
    copied = AlfWorld()
    copied.restore(env.snapshot())
    choices = [rng.choice(env.available_actions()) for _ in range(20)]
    ours = [do(env, text) for text in choices]
    assert [do(copied, text) for text in choices] == ours
    with pytest.raises(TypeError, match="takes what snapshot"):
        copied.restore("a house")


def test_a_household_that_the_table_does_not_know_is_refused():
    task = TASKS.get("test", 0)
    with pytest.raises(EnvFailed, match="another household than the table of tasks knows"):
        AlfWorld().reset(replace(task, payload={**task.payload, "house": "00000000"}))


def test_every_function_of_the_card_says_an_action_that_the_env_does():
    names = {"recep": "countertop 1", "obj": "mug 1", "name": "mug 1"}
    before = {
        "open": ["go to fridge 1"], "close": ["go to fridge 1", "open fridge 1"], "take": ["go to countertop 1"],
        "put": TAKE_MUG, "clean": [*TAKE_MUG, "go to sinkbasin 1"], "heat": [*TAKE_MUG, "go to microwave 1"],
        "cool": [*TAKE_MUG, "go to fridge 1"], "use": ["go to desk 1"], "toggle": ["go to desk 1"], "examine": TAKE_MUG,
    }  # fmt: skip
    places = {
        "open": "fridge 1",
        "close": "fridge 1",
        "clean": "sinkbasin 1",
        "heat": "microwave 1",
        "cool": "fridge 1",
    }
    for function in SPEC.functions:
        name = function["name"]
        given = {**names, "recep": places.get(name, "countertop 1")}
        if name in ("use", "toggle"):
            given["obj"] = "desklamp 1"
        wanted = function["parameters"]["required"]
        env = within()
        text = function["text"].format(**{key: given[key] for key in wanted})
        assert told(env, *before.get(name, ()), text) != NOTHING_HAPPENS, text


def test_64_sessions_of_one_household_do_not_see_each_other():
    envs = [started(1, list_actions=False) for _ in range(64)]
    alone = started(1, list_actions=False)
    texts = [action.text for action in alone.solve(TASKS.get("test", 1))]
    expected = [told(alone, text) for text in texts]
    seen = [[] for _ in envs]
    for turn in range(len(texts) + 1):
        for number, env in enumerate(envs):
            at = turn - number % 2  # every other one is a turn behind
            if 0 <= at < len(texts):
                seen[number].append(told(env, texts[at]))
    assert seen == [expected] * 64


def session_replies(task, actions, max_steps=None):
    """The replies to actions in one session of a server."""

    async def run():
        table = Sessions([SPEC])
        try:
            made = await table.handle(CreateCall(body=CreateBody(env="alfworld", task=task, max_steps=max_steps)))
            calls = [StepCall(session=made.body.session, body=StepBody(action=action)) for action in actions]
            return [await table.handle(call) for call in calls]
        finally:
            await table.close()

    return asyncio.run(run())


def test_a_session_outlives_nonsense_and_counts_each_call():
    replies = session_replies(
        "alfworld/test/0", ["x" * 10_000, "OPEN SLIDING PATIO DOOR THEN GO NORTH", "go to drawer 9"]
    )
    assert [reply.status for reply in replies] == [200, 200, 200]
    assert [(reply.body.reward, reply.body.step) for reply in replies] == [(0.0, 1), (0.0, 2), (0.0, 3)]
    assert {reply.body.observation.splitlines()[0] for reply in replies} == {NOTHING_HAPPENS}


def test_after_the_end_a_call_is_an_error_and_pays_nothing():
    actions = [action.text for action in started().solve(TASKS.get("test", 0))]
    *_, last, after = session_replies("alfworld/test/0", [*actions, "look"])
    assert (last.body.outcome, last.body.reward, last.body.step) == ("success", 1.0, len(actions))
    assert (after.status, after.body.code) == (409, "episode_over")


def test_fifty_steps_are_all():
    replies = session_replies("alfworld/test/0", ["look"] * 50)
    assert (replies[-1].body.outcome, replies[-1].body.truncated) == ("step_limit", True)
