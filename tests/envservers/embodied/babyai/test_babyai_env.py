"""The environment as a session plays it."""

import json
import random

import pytest

pytest.importorskip("minigrid")

from babyai_worlds import draw
from minigrid.minigrid_env import MiniGridEnv

from agentenv.errors import EnvFailed, EpisodeOver, ResetNeeded
from agentenv.protocol import Action, Task
from envservers.embodied.babyai.canonical import canonical_digest
from envservers.embodied.babyai.env import DONE, FAILED, SPENT, BabyAI
from envservers.embodied.babyai.generate import make_layout
from envservers.embodied.babyai.layout import Clause
from envservers.embodied.babyai.world import World


def task_of(level, seed):
    digest = canonical_digest(make_layout(level, seed))
    payload = {"level": level, "world": digest}
    return Task(id="babyai/train/0", env="babyai", split="train", index=0, seed=seed, payload=payload)


def started(level, seed=1, **options):
    env = BabyAI(**options)
    env.reset(task_of(level, seed))
    return env


def within(layout, **options):
    """An env in a world that was drawn by hand."""
    env = BabyAI(**options)
    env.restore(World(layout))
    return env


def do(env, *texts):
    for text in texts:
        result = env.step(Action(text=text))
    return result


def listed(observation):
    line = observation.splitlines()[-1]
    return json.loads(line.removeprefix("Available actions: "))


def test_the_first_observation_has_goal_view_and_actions():
    goal, view, actions = BabyAI().reset(task_of("GoToRedBallGrey", 3)).observation.splitlines()
    assert goal == "Your goal: go to the red ball"
    assert view.startswith("In front of you in this room, you can see several objects: There is a ")
    assert actions.startswith('Available actions: ["turn left", "turn right", "move forward", "pickup ')


def test_later_observations_leave_the_goal_out():
    assert "Your goal" not in do(started("GoToRedBallGrey"), "turn left").observation


def test_the_list_is_what_available_actions_tells_and_may_be_left_out():
    env, silent = started("BossLevel"), started("BossLevel", list_actions=False)
    for text in ("turn left", "move forward", "turn right"):
        shown, bare = do(env, text).observation, do(silent, text).observation
        assert listed(shown) == env.available_actions() == silent.available_actions()
        assert bare == "\n".join(shown.splitlines()[:-1])


def test_every_mission_is_told_in_the_levels_own_words():
    mission = make_layout("BossLevel", 11).goal
    assert BabyAI().reset(task_of("BossLevel", 11)).observation.startswith(f"Your goal: {mission}\n")


ROOM = "#######\n#..b..#\n#.....#\n#.^...#\n#######"
TO_BALL = Clause(verb="goto", items=(0,))


def test_success_ends_the_episode_and_its_reward_falls_with_the_moves():
    env = within(draw(ROOM, {"b": "red ball"}, mission=TO_BALL, max_moves=20))
    result = do(env, "turn left", "turn right", "go to red ball 1")
    assert (result.terminated, result.success) == (True, True)
    assert result.info == {"moves": 5, "max_moves": 20}
    assert result.reward == pytest.approx(1 - 0.9 * 5 / 20)
    assert result.observation.endswith(DONE)
    assert env.available_actions() == []


def test_a_long_way_stops_where_the_mission_is_accomplished():
    env = within(draw(ROOM, {"b": "red ball"}, mission=TO_BALL))
    assert do(env, "pick up red ball 1").info["moves"] == 3


def test_every_other_step_has_no_reward():
    env = within(draw(ROOM, {"b": "red ball"}, mission=TO_BALL))
    assert [do(env, text).reward for text in ("turn left", "dance", "check available actions")] == [0.0, 0.0, 0.0]


def test_the_wrong_thing_fails_a_strict_mission():
    strict = Clause(verb="pickup", items=(1,), strict=True)
    env = within(draw("#####\n#kb.#\n#.^.#\n#####", {"b": "red ball", "k": "grey key"}, mission=strict))
    result = do(env, "pickup red ball 1")
    assert (result.terminated, result.success, result.reward) == (True, False, 0.0)
    assert result.observation.endswith(FAILED)


def test_a_mission_fails_when_the_levels_moves_are_used_up():
    env = within(draw(ROOM, {"b": "red ball"}, mission=TO_BALL, max_moves=3))
    do(env, "turn left", "turn left")
    result = do(env, "turn left")
    assert (result.terminated, result.success, result.reward) == (True, False, 0.0)
    assert result.observation.endswith(SPENT)
    with pytest.raises(EpisodeOver, match="failure"):
        do(env, "turn left")


@pytest.mark.parametrize("text", ["noop", "", "go to the moon", "pickup red ball 7", "check available actions"])
def test_what_is_no_move_uses_up_no_move_and_changes_nothing(text):
    env = started("GoToLocal")
    before = env.available_actions()
    result = do(env, text)
    assert result.info["moves"] == 0
    assert env.available_actions() == before


def test_check_lists_the_actions_in_words():
    env = started("GoToLocal")
    expected = "You can take the following actions: " + ", ".join(env.available_actions())
    assert do(env, "check available actions").observation == expected


def test_a_primitive_move_in_vain_is_told_and_counts():
    env = within(draw("####\n#.>#\n####", {}))
    result = do(env, "move forward")
    assert result.observation.startswith("There is a barrier in front of you, you can't move forward.\n")
    assert result.info["moves"] == 1


@pytest.mark.parametrize("text", ["pick up grey key 1", "pickup grey key 1", "Pick Up grey key", "pickup", "pick up"])
def test_both_spellings_of_picking_up_do(text):
    env = within(draw("####\n#k.#\n#^.#\n####", {"k": "grey key"}))
    assert "You are carrying a grey key." in do(env, text).observation


def test_a_step_before_reset_says_what_to_do():
    with pytest.raises(ResetNeeded, match=r"call reset\(task\) first"):
        BabyAI().step(Action(text="turn left"))
    with pytest.raises(ResetNeeded):
        BabyAI().available_actions()


def test_a_copy_goes_on_alike_and_apart():
    env = started("BossLevel", 4)
    rng = random.Random(0)
    for _ in range(10):
        do(env, rng.choice(env.available_actions()))
    copied = BabyAI()
    copied.restore(env.snapshot())
    choices = [rng.choice(["turn left", "move forward", "toggle", "pickup", "drop"]) for _ in range(20)]
    ours = [do(env, text) for text in choices]
    assert [do(copied, text) for text in choices] == ours
    with pytest.raises(TypeError, match="takes what snapshot"):
        copied.restore("a world")


def test_a_world_that_the_table_does_not_know_is_refused():
    task = task_of("GoToLocal", 1)
    payload = {**task.payload, "world": "00000000"}
    with pytest.raises(EnvFailed, match="makes another world of level GoToLocal, seed 1"):
        BabyAI().reset(Task(id=task.id, env="babyai", split="train", index=0, seed=1, payload=payload))


def test_no_step_asks_minigrid_for_anything(monkeypatch):
    env = started("GoToLocal", 5)

    def refuse(*_, **__):
        raise AssertionError("a step went to minigrid")

    for name in ("reset", "step", "gen_obs", "gen_obs_grid", "get_frame", "render"):
        monkeypatch.setattr(MiniGridEnv, name, refuse)
    rng = random.Random(1)
    while env.available_actions():
        do(env, rng.choice(env.available_actions()))
