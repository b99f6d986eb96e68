import random

import pytest

from agentenv.errors import EpisodeOver, ResetNeeded, UnknownOption
from agentenv.protocol import Action, StepResult, Task
from envservers.games.maze.env import MazeEnv, read_move
from envservers.games.maze.layout import distances
from envservers.games.maze.spec import SPEC

U_TURN = Task(  # down, right, up: the wall between the two columns is open at the bottom only
    id="maze/test/0",
    env="maze",
    split="test",
    index=0,
    payload={"rows": ["44", "39"], "start": [0, 0], "goal": [0, 1]},
)


def start(task: Task = U_TURN, **options) -> MazeEnv:
    env = SPEC.make(options)
    env.last = env.reset(task)
    return env


def say(env: MazeEnv, text: str) -> StepResult:
    return env.step(Action(text=text))


def test_the_observation_tells_goal_position_and_walls():
    assert start().last == StepResult(
        observation="The goal is at position 0, 1. Your current position is at position 0, 0. "
        "There are walls to your right, to your left, above you."
    )


def test_the_relative_observation_counts_rows_and_columns_to_the_goal():
    env = start(observation="relative")
    assert env.last.observation == "The goal is 1 right. There are walls to your right, to your left, above you."
    assert say(env, "down").observation == "The goal is 1 up, 1 right. There are walls to your left, below you."
    assert say(env, "right").observation == "The goal is 1 up. There are walls to your right, below you."
    assert say(env, "up").observation == "Success\n"


@pytest.mark.parametrize(
    ("goal", "text"),
    [((0, 2), "2 up"), ((4, 2), "2 down"), ((2, 0), "2 left"), ((2, 3), "1 right"), ((3, 1), "1 down, 1 left")],
)
def test_every_side_of_the_goal_has_its_words(goal, text):
    hall = Task(**{**_fields(U_TURN), "payload": {"rows": ["fffff"] * 5, "start": [2, 2], "goal": list(goal)}})
    assert start(hall, observation="relative").last.observation == f"The goal is {text}. There are no walls around you."


def test_one_wall_is_told_in_the_singular():
    hall = Task(**{**_fields(U_TURN), "payload": {"rows": ["fe", "ff"], "start": [0, 1], "goal": [1, 0]}})
    assert start(hall).last.observation.endswith("position 0, 1. There is a wall above you.")


def _fields(task: Task) -> dict:
    return {name: getattr(task, name) for name in task.__dataclass_fields__}


@pytest.mark.parametrize("text", ["move up", "move left", "move right", "up", "RIGHT"])
def test_a_bump_leaves_the_position_unchanged(text):
    env = start()
    assert say(env, text) == env.last


@pytest.mark.parametrize(
    "text",
    ["move down", "down", "Move Down", " move \t down\n", "DOWN", "move down.", "`move down`", "[down]", "“down”"],
)
def test_case_blanks_marks_around_it_and_a_missing_move_do_not_change_a_move(text):
    assert "position 1, 0." in say(start(), text).observation


NONSENSE = {
    "another verb": "jump",
    "empty": "",
    "two moves": "move down move right",
    "half a move": "move",
    "an emoji": "\U0001f4a5",
    "a control character": "\x00down",
    "a lone surrogate": "\ud800",
    "half a megabyte": "down" * 100_000,
    "a megabyte of blanks": " " * 1_000_000 + "down",
}


@pytest.mark.parametrize("text", NONSENSE.values(), ids=NONSENSE)
def test_an_unknown_action_is_explained_and_changes_nothing(text):
    env = start()
    result = say(env, text)
    assert result.observation.startswith("Unknown action ")
    assert "the actions are: move up, move down, move left, move right. The goal is at" in result.observation
    assert "position 0, 0." in result.observation
    assert len(result.observation) < 500
    assert (result.reward, result.terminated, result.success) == (0.0, False, None)
    assert say(env, "down").observation == say(start(), "down").observation


def test_available_actions_are_the_four_moves_and_each_is_read():
    env = start()
    assert env.available_actions() == ["move up", "move down", "move left", "move right"]
    assert [read_move(text) for text in env.available_actions()] == ["up", "down", "left", "right"]


def test_a_step_after_the_goal_is_refused_and_pays_nothing():
    env = start()
    assert [say(env, text).reward for text in ("down", "right", "up")] == [0.0, 0.0, 1.0]
    for _ in range(2):
        with pytest.raises(EpisodeOver, match="reset or close") as refused:
            say(env, "down")
        assert refused.value.extra == {"outcome": "success"}


def test_step_before_reset_says_what_to_do():
    with pytest.raises(ResetNeeded, match=r"call reset\(task\) first"):
        SPEC.make().step(Action(text="move up"))


def test_a_reset_starts_afresh_in_mid_walk_and_after_the_end():
    env = start()
    first = env.last
    say(env, "down")
    assert env.reset(U_TURN) == first
    for text in ("down", "right", "up"):
        say(env, text)
    assert env.reset(U_TURN) == first


def test_a_restored_walk_goes_on_as_the_first_one_would_have():
    env = start(observation="relative")
    say(env, "down")
    kept = env.snapshot()
    say(env, "right")
    other = SPEC.make({"observation": "relative"})
    other.restore(kept)
    assert say(other, "up").observation.startswith("The goal is 1 right.")
    for text in ("down", "right"):
        say(other, text)
    assert say(other, "up") == say(env, "up")


def test_a_snapshot_before_the_first_reset_restores_to_the_same():
    env = start()
    env.restore(SPEC.make().snapshot())
    with pytest.raises(ResetNeeded):
        say(env, "up")


@pytest.mark.parametrize(
    "options", [{"size": 3}, {"size": 11}, {"size": "big"}, {"observation": "heading"}, {"sise": 5}]
)
def test_wrong_options_are_refused(options):
    with pytest.raises(UnknownOption):
        SPEC.make(options)


@pytest.mark.parametrize("split", ["train", "dev", "test", "double_t"])
@pytest.mark.parametrize("size", [4, 5])
def test_the_scripted_solution_is_a_shortest_path_of_every_task(split, size):
    env, tasks = SPEC.make({"size": size}), SPEC.task_set({"size": size})
    for index in range(tasks.count(split)):
        task = tasks.get(split, index)
        env.last = env.reset(task)
        world = task.payload
        shortest = distances(world["rows"], tuple(world["goal"]))[tuple(world["start"])]
        solution = env.solve(task)
        action, moves = next(solution), 1
        while not (result := env.step(action)).terminated:
            env.last = result
            action, moves = solution.send(result), moves + 1
        assert result.success
        assert moves == shortest <= task.max_steps


def wins(size: int, seed: int) -> float:
    """Share of the test split that random moves win within each task's limit."""
    env, tasks, rng = SPEC.make({"size": size}), SPEC.task_set({"size": size}), random.Random(seed)
    count = tasks.count("test")
    won = 0
    for task in (tasks.get("test", index) for index in range(count)):
        env.reset(task)
        moves = env.available_actions()
        won += any(env.step(Action(text=rng.choice(moves))).terminated for _ in range(task.max_steps))
    return won / count


@pytest.mark.parametrize("size", [5, 6, 8])
def test_random_moves_win_at_most_one_percent_of_the_test_split(size):
    assert max(wins(size, seed) for seed in range(3)) <= 0.01


@pytest.mark.parametrize("split", ["test", "double_t"])
def test_doing_nothing_pays_nothing(split):
    env, tasks = SPEC.make(), SPEC.task_set()
    for task in (tasks.get(split, index) for index in range(tasks.count(split))):
        env.reset(task)
        results = [env.step(Action(text="")) for _ in range(task.max_steps)]
        assert {(r.reward, r.success) for r in results} == {(0.0, None)}
