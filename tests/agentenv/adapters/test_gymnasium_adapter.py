"""Gymnasium envs as text envs: same game, readable text, honest success."""

import json

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from agentenv.adapters.gym_text import BadText, grammar, parse_action, plain, render, supported
from agentenv.adapters.gymnasium import GymText, spec_for, wire_id
from agentenv.errors import BadCall, EpisodeOver, ResetNeeded, UnknownEnv, UnknownOption
from agentenv.functions import Call, FunctionTable
from agentenv.protocol import Action, Outcome, StepResult
from agentenv.registry import EnvSpec
from agentenv.testing import check_env


class OneMove(gymnasium.Env):
    """Ends at the first move, as the constructor says; the move is its reward."""

    def __init__(self, *, space=None, truncates=False):
        self.observation_space = spaces.Box(-np.inf, np.inf, (2,), np.float32)
        self.action_space = space or spaces.Box(-1, 1, (1,), np.float32)
        self.truncates = truncates

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return np.array([0.1, np.float32(1) / 3], np.float32), {"array": np.arange(2), "odd": object()}

    def step(self, action):
        return np.zeros(2, np.float32), np.float64(action[0]), not self.truncates, self.truncates, {"nan": np.nan}


@pytest.fixture
def one_move():
    """Register OneMove with these arguments; gives the name."""

    def register(**kwargs):
        gymnasium.register("OneMove-v0", OneMove, kwargs=kwargs)
        return "gym:OneMove-v0"

    yield register
    gymnasium.registry.pop("OneMove-v0")


def made(spec: EnvSpec, index: int = 0, split: str = "test") -> tuple[GymText, StepResult]:
    env = spec.make()
    env.last = env.reset(spec.task_set().get(split, index))
    return env, env.last


def test_ids_become_wire_ids():
    assert wire_id("FrozenLake-v1") == "gym_frozenlake_v1"
    assert wire_id("phys2d/CartPole-v1") == "gym_phys2d_cartpole_v1"


def test_time_limit_threshold_and_grammar_come_from_gymnasium():
    spec = spec_for("gym:FrozenLake-v1")
    assert (spec.id, spec.max_steps) == ("gym_frozenlake_v1", 100)
    assert spec.resolve_options({})["success_return"] == pytest.approx(0.7)
    assert spec.action_grammar == "an integer from 0 to 3"
    assert not spec.solvable
    json.dumps(spec.card(), allow_nan=False)


def test_an_env_without_threshold_is_refused_until_the_option_says_what_success_is():
    with pytest.raises(UnknownOption, match=r"--env-option success_return=.*gym_cliffwalking_v1\.success_return="):
        spec_for("gym:CliffWalking-v1")
    assert spec_for("gym:CliffWalking-v1", success_return="-13").resolve_options({})["success_return"] == -13.0
    with pytest.raises(UnknownOption, match="must be a number"):
        spec_for("gym:CliffWalking-v1", success_return="many")


def test_an_unknown_env_is_named_with_gymnasiums_hint():
    with pytest.raises(UnknownEnv, match=r"FrozenLak-v1.*FrozenLake"):
        spec_for("gym:FrozenLak-v1")


def test_an_id_without_its_version_is_answered_with_the_whole_one():
    with pytest.raises(UnknownEnv, match=r"gym:FrozenLake: .*; write gym:FrozenLake-v1$"):
        spec_for("gym:FrozenLake")


@pytest.mark.parametrize("text", ["2.", '"2"', "`2`", "“2”", " 2\n"])
def test_quotes_and_a_full_stop_around_an_action_make_no_difference(text):
    assert parse_action(spaces.Discrete(3), text) == 2


@pytest.mark.parametrize(
    ("space", "value"),
    [
        (spaces.Discrete(3, start=-1), -1),
        (spaces.Box(-1, 1, (2,), np.float32), [0.5, -1]),
        (spaces.MultiBinary(2), [0, 1]),
        (spaces.Text(4), "ab"),
    ],
)
def test_a_call_of_act_makes_the_action(one_move, space, value):
    table = FunctionTable.of(spec_for(one_move(space=space), 0.5).functions)
    text = table.action(Call(name="act", arguments={"action": value}))
    assert plain(parse_action(space, text)) == value


def test_the_first_observation_tells_the_goal():
    _, first = made(spec_for("gym:FrozenLake-v1"))
    assert "The goal is a sum of rewards of at least 0.7.\n" in first.observation


def test_splits_of_seeds_do_not_meet():
    tasks = spec_for("gym:FrozenLake-v1").task_set()
    seeds = {split: {tasks.get(split, i).seed for i in range(tasks.count(split))} for split in tasks.splits()}
    assert list(seeds) == ["train", "dev", "test"]
    assert len(set.union(*seeds.values())) == sum(map(len, seeds.values())) == 12_000


def test_an_episode_is_gymnasiums_own_with_the_same_seed():
    spec = spec_for("gym:FrozenLake-v1")
    env, first = made(spec, index=7)
    bare = gymnasium.make("FrozenLake-v1")
    seen, _ = bare.reset(seed=spec.task_set().get("test", 7).seed)
    assert first.observation.endswith(f"Observation: {seen}")
    for move in [2, 1, 2, 1, 0, 1, 2] * 10:
        seen, reward, terminated, _, _ = bare.step(move)
        result = env.step(Action(text=str(move)))
        assert result.observation.startswith(f"Observation: {seen}\nReward: {reward:g}")
        assert (result.reward, result.terminated) == (reward, terminated)
        if terminated:
            assert result.success is (reward == 1.0)
            return
    pytest.fail("the lake has no end")


@pytest.mark.parametrize(
    "text", ["", "left", "4", "-1", "1.0", "true", "[1]", "1" * 400, "9" * 5000, "[" * 9999, "NaN"]
)
def test_a_text_that_is_no_action_is_an_observation_and_changes_nothing(text):
    env, _ = made(spec_for("gym:FrozenLake-v1"))
    result = env.step(Action(text=text))
    assert result.observation == "Invalid action: expected an integer from 0 to 3."
    assert (result.reward, result.terminated) == (0.0, False)
    assert env.available_actions() == ["0", "1", "2", "3"]


def test_success_is_the_return_at_termination(one_move):
    name = one_move()
    for success_return, success in [(0.5, True), (0.6, False)]:
        env, first = made(spec_for(name, success_return))
        assert first.observation.endswith("Observation: [0.1, 0.33333334]")
        assert first.info == {"array": [0, 1]}, "what JSON cannot hold is left out"
        result = env.step(Action(text="[0.5]"))
        assert (result.terminated, result.success, result.score) == (True, success, 0.5)
        assert result.info == {}


def test_steps_out_of_order_say_what_to_do(one_move):
    spec = spec_for(one_move(), 0.5)
    with pytest.raises(ResetNeeded, match=r"call reset\(task\) first"):
        spec.make().step(Action(text="[0.5]"))
    env, _ = made(spec)
    env.step(Action(text="[0.5]"))
    for text in ("[0.5]", "nonsense"):
        with pytest.raises(EpisodeOver, match="call reset"):
            env.step(Action(text=text))


@pytest.mark.parametrize("name", ["gym:FrozenLake-v1", "gym:CartPole-v1", "gym:MountainCarContinuous-v0"])
def test_adapted_envs_keep_the_contract(name):
    report = check_env(spec_for(name), sessions=20, budget_s=1.0, measured=False)
    assert report.failed == [], report.to_dict()


def test_an_env_that_truncates_by_itself_has_terminated(one_move):
    env, _ = made(spec_for(one_move(truncates=True), 0.5))
    result = env.step(Action(text="[1.0]"))
    assert (result.terminated, result.success) == (True, True)


def test_at_the_time_limit_the_return_counts_only_when_every_step_was_played():
    spec = spec_for("gym:MountainCar-v0", success_return=-500)
    env, _ = made(spec)
    for _ in range(spec.max_steps - 1):
        assert not env.step(Action(text="1")).terminated
    assert env.finish(Outcome.STEP_LIMIT).success is False, "one step is missing, as after a bad text"
    env.step(Action(text="1"))
    assert env.finish(Outcome.CONTEXT_FULL).success is False
    end = env.finish(Outcome.STEP_LIMIT)
    assert (end.success, end.score, end.reward) == (True, -200.0, 0.0)


def test_an_action_space_without_text_form_is_refused_by_name(one_move):
    name = one_move(space=spaces.Graph(spaces.Discrete(2), None))
    with pytest.raises(BadCall, match=r"Graph.*no text form"):
        spec_for(name, 1.0)


NESTED = spaces.Dict({"go": spaces.Discrete(2, start=5), "say": spaces.Text(3), "at": spaces.Box(0, 9, (2,), np.int16)})


@pytest.mark.parametrize(
    ("space", "text", "value"),
    [
        (spaces.Discrete(3, start=-1), "-1", -1),
        (spaces.Box(-1, 1, (2,), np.float32), "[0.1, -1]", [0.1, -1.0]),
        (spaces.MultiDiscrete([2, 5]), "[1, 4]", [1, 4]),
        (spaces.MultiBinary(3), "[0, 1, 1]", [0, 1, 1]),
        (spaces.Text(4), "ab", "ab"),
        (spaces.Tuple([spaces.Discrete(2), spaces.Discrete(2)]), "[0, 1]", [0, 1]),
        (NESTED, '{"go": 5, "say": "hi", "at": [9, 0]}', {"go": 5, "say": "hi", "at": [9, 0]}),
    ],
)
def test_actions_are_read_by_the_space(space, text, value):
    assert supported(space)
    action = parse_action(space, text)
    assert space.contains(action)
    assert plain(action) == value


@pytest.mark.parametrize(
    ("space", "text"),
    [
        (spaces.Box(-1, 1, (2,), np.float32), "[2, 0]"),
        (spaces.Box(-1, 1, (2,), np.float32), "[NaN, 0]"),
        (spaces.Box(-1, 1, (2,), np.float32), "[[1], 0]"),
        (spaces.Box(-1, 1, (2,), np.float32), "[1e400, 0]"),
        (spaces.Box(-1, 1, (2,), np.float32), "__import__('os')"),
        (spaces.Box(0, 9, (2,), np.int8), "[257, 0]"),
        (spaces.Box(0, 9, (2,), np.int8), "[1.5, 0]"),
        (spaces.MultiDiscrete([2, 5]), "[1, 5]"),
        (spaces.MultiBinary(2), "[true, false]"),
        (spaces.Text(2), "abc"),
        (NESTED, '{"go": 5, "say": "hi"}'),
        (NESTED, '{"go": 1, "say": "hi", "at": [9, 0]}'),
    ],
)
def test_what_is_outside_the_space_is_refused_in_words(space, text):
    with pytest.raises(BadText, match="expected a"):
        parse_action(space, text)
    assert grammar(space).startswith(("a ", "an "))


def test_observations_of_every_kind_are_text():
    assert render("plain text") == "plain text"
    assert render(np.int64(3)) == "3"
    assert render((np.float32(0.1), np.array([[1, 2]], np.uint8))) == "[0.1, [[1, 2]]]"
    assert render({"a": np.array(0.25), "b": np.bool_(True)}) == '{"a": 0.25, "b": true}'
