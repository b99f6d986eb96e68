import pytest

from agentenv.protocol import Action
from envservers.games.maze.double_t import GOAL, PICTURE, STARTS, layout
from envservers.games.maze.layout import distances
from envservers.games.maze.spec import SPEC

TASKS = SPEC.task_set()


def start(game: int):
    env = SPEC.make()
    env.last = env.reset(TASKS.get("double_t", game))
    return env


def test_the_floor_is_two_t_shapes_with_a_common_leg():
    floor = {(r, c) for r, row in enumerate(PICTURE) for c, cell in enumerate(row) if cell == "."}
    assert (len(PICTURE), {len(row) for row in PICTURE}) == (10, {13})
    arms = {(1, c) for c in (*range(1, 6), *range(7, 12))} | {(r, c) for r in (2, 3, 4) for c in (3, 9)}
    leg = {(5, c) for c in range(3, 10)} | {(r, 6) for r in (6, 7, 8)}
    assert floor == arms | leg
    assert set(distances(layout(), GOAL)) == floor


def test_every_open_cell_but_the_goal_is_a_start_once():
    assert len(STARTS) == len(set(STARTS)) == TASKS.count("double_t") == 25
    assert {*STARTS, GOAL} == set(distances(layout(), GOAL))
    assert [TASKS.get("double_t", g).payload["start"] for g in range(25)] == [list(s) for s in STARTS]


@pytest.mark.parametrize(
    ("game", "position", "shortest"),
    [
        (0, (1, 1), 12),
        (2, (1, 3), 10),
        (7, (1, 9), 10),
        (9, (1, 11), 12),
        (10, (2, 3), 9),
        (13, (5, 3), 6),
        (16, (5, 6), 3),
        (18, (7, 6), 1),
        (21, (5, 9), 6),
        (24, (2, 9), 9),
    ],
)
def test_a_game_starts_where_it_is_listed_and_is_solved_in_the_fewest_moves(game, position, shortest):
    env, task = start(game), TASKS.get("double_t", game)
    assert f"Your current position is at position {position[0]}, {position[1]}." in env.last.observation
    results = [env.step(action) for action in list(env.solve(task))]
    assert len(results) == shortest
    assert [r.reward for r in results] == [0.0] * (shortest - 1) + [1.0]
    assert results[-1].success


@pytest.mark.parametrize(
    ("game", "walls"),
    [
        (0, "There are walls to your left, above you, below you."),
        (2, "There is a wall above you."),
        (16, "There is a wall above you."),
        (13, "There are walls to your left, below you."),
        (18, "There are walls to your right, to your left."),
    ],
)
def test_walls_are_told_by_their_side(game, walls):
    assert start(game).last.observation.endswith(f". {walls}")


def test_the_first_observation_reads_as_the_reference_has_it():
    assert start(0).last.observation == (
        "The goal is at position 8, 6. Your current position is at position 1, 1. "
        "There are walls to your left, above you, below you."
    )


def test_right_increases_the_column_and_down_the_row():
    env = start(0)
    assert "position 1, 2." in env.step(Action(text="move right")).observation
    assert "position 1, 3." in env.step(Action(text="move right")).observation
    assert "position 2, 3." in env.step(Action(text="move down")).observation
    assert "position 1, 3." in env.step(Action(text="move up")).observation
    assert "position 1, 2." in env.step(Action(text="move left")).observation


def test_the_best_walk_of_game_2_pays_once_on_its_last_move():
    env = start(2)
    walk = ["move down"] * 4 + ["move right"] * 3 + ["move down"] * 3
    results = [env.step(Action(text=text)) for text in walk]
    assert [r.reward for r in results] == [0.0] * 9 + [1.0]
    assert [r.terminated for r in results] == [False] * 9 + [True]
    assert results[-1].observation == "Success\n"


def test_fifty_moves_are_the_tasks_limit_and_never_cost_a_reward():
    env, task = start(0), TASKS.get("double_t", 0)
    assert task.max_steps == 50
    results = [env.step(Action(text="move up")) for _ in range(60)]
    assert {(r.reward, r.terminated, r.success) for r in results} == {(0.0, False, None)}
