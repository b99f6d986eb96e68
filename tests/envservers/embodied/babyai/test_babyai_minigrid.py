"""Our moves, sight and judgement are minigrid's, on every level."""

import random

import pytest

pytest.importorskip("minigrid")

from minigrid.core.constants import COLOR_TO_IDX, OBJECT_TO_IDX, STATE_TO_IDX

from envservers.embodied.babyai.generate import make_env, make_layout
from envservers.embodied.babyai.levels import LEVELS
from envservers.embodied.babyai.mission import DROP, FORWARD, LEFT, PICKUP, RIGHT, TOGGLE
from envservers.embodied.babyai.solution import solution
from envservers.embodied.babyai.view import HERE, SIZE, look
from envservers.embodied.babyai.words import PRIMITIVES, menu_of
from envservers.embodied.babyai.world import World

UNSEEN, EMPTY = [0, 0, 0], [1, 0, 0]
MOVES = (LEFT, RIGHT, FORWARD, FORWARD, FORWARD, FORWARD, PICKUP, DROP, TOGGLE, TOGGLE)


def encoded(thing):
    if thing is None:
        return EMPTY
    return [OBJECT_TO_IDX[thing.kind], COLOR_TO_IDX[thing.color], STATE_TO_IDX.get(thing.state, 0)]


def image_of(world):
    """What minigrid would show: by column, then row; the thing held where the player stands."""
    view = look(world)
    cells = [encoded(t) if v else UNSEEN for t, v in zip(view.cells, view.visible, strict=True)]
    cells[HERE] = encoded(world.carrying)
    return [[cells[row * SIZE + column] for row in range(SIZE)] for column in range(SIZE)]


def assert_alike(env, world, move):
    """Make a move in both; what is seen and judged must be the same. True once the mission is decided."""
    observation, reward, terminated, truncated, _ = env.step(move)
    world.do(move)
    assert image_of(world) == observation["image"].tolist()
    assert (world.x, world.y, world.heading) == (*(int(v) for v in env.agent_pos), env.agent_dir)
    assert world.moves == env.step_count
    decided = True if terminated and reward > 0 else False if terminated or truncated else None
    assert world.success is decided
    return decided is not None


@pytest.mark.parametrize("level", LEVELS)
def test_a_walk_by_chance_looks_and_ends_as_in_minigrid(level):
    env, world = make_env(level, 7), World(make_layout(level, 7))
    rng = random.Random(level)
    for _ in range(60):
        if assert_alike(env, world, rng.choice(MOVES)):
            break


@pytest.mark.parametrize("level", [level.name for level in LEVELS.values() if level.use != "dropped"])
def test_the_solution_of_a_level_succeeds_in_minigrid_too(level):
    seed = next(s for s in range(7, 20) if solution(level, s, World(make_layout(level, s))) is not None)
    env, world = make_env(level, seed), World(make_layout(level, seed))
    for text in solution(level, seed, world):
        moves = (PRIMITIVES[text],) if text in PRIMITIVES else menu_of(world, look(world))[text]
        for move in moves:
            if assert_alike(env, world, move):
                break
    assert world.success
    assert 1 - 0.9 * world.moves / world.max_moves == pytest.approx(env._reward())


def test_minigrid_prints_nothing_when_it_draws_again(capfd):
    for seed in range(5):
        make_env("UnblockPickup", seed)
    assert capfd.readouterr() == ("", "")


def test_a_world_is_made_alike_every_time():
    assert make_layout("BossLevel", 3) == make_layout.__wrapped__("BossLevel", 3)
    assert make_layout("BossLevel", 3) != make_layout("BossLevel", 4)
