import random

import pytest

from envservers.games.maze.generate import STYLES, generate
from envservers.games.maze.layout import BIT, OPPOSITE, after, canonical, distances, exits, is_open, symmetric_copies

CORNER = ("6", "9")  # two cells, one above the other: right and down are open above, up and left below


def test_digits_add_up_the_open_directions():
    assert [d for d in BIT if is_open(CORNER, (0, 0), d)] == ["right", "down"]
    assert [d for d in BIT if is_open(CORNER, (1, 0), d)] == ["up", "left"]


def test_a_quarter_turn_moves_cells_and_exits_clockwise():
    copies = list(symmetric_copies(CORNER))
    assert copies[0] == ("6", "9")
    assert copies[1] == ("c", "3")  # mirrored: right and left exchanged
    assert copies[2] == ("3c",)  # the lower cell comes to lie on the left
    assert len(copies) == 8


def test_the_four_quarter_turns_come_back_to_the_start():
    maze = generate(5, "corridors", random.Random(3))
    copies = list(symmetric_copies(maze.rows))
    assert len(set(copies)) == 8
    again = list(symmetric_copies(copies[-2]))
    assert again[2] == maze.rows


@pytest.mark.parametrize("style", STYLES)
def test_symmetric_copies_have_one_canonical_form_and_the_same_ways(style):
    maze = generate(6, style, random.Random(7))
    lengths = sorted(distances(maze.rows, maze.goal).values())
    for copy in symmetric_copies(maze.rows):
        assert canonical(copy) == canonical(maze.rows)
        everywhere = [(r, c) for r in range(6) for c in range(6)]
        assert any(sorted(distances(copy, cell).values()) == lengths for cell in everywhere)
        for cell in everywhere:
            for direction, near in exits(copy, cell):
                assert is_open(copy, near, OPPOSITE[direction])


@pytest.mark.parametrize("size", [4, 5, 7, 10])
@pytest.mark.parametrize("style", STYLES)
def test_generated_mazes_are_closed_connected_and_long_enough(size, style):
    for seed in range(5):
        maze = generate(size, style, random.Random(seed))
        assert [len(row) for row in maze.rows] == [size] * size
        ways = distances(maze.rows, maze.goal)
        assert len(ways) == size * size
        assert ways[maze.start] == maze.shortest >= 2 * size
        passages = 0
        for cell in ways:
            for direction in BIT:
                if is_open(maze.rows, cell, direction):
                    near = after(cell, direction)
                    assert near in ways
                    assert is_open(maze.rows, near, OPPOSITE[direction])
                    passages += 1
        assert passages // 2 == size * size - 1 + (size // 2 if style == "loops" else 0)


def test_equal_seeds_generate_equal_mazes():
    for style in STYLES:
        assert generate(6, style, random.Random(11)) == generate(6, style, random.Random(11))
        assert generate(6, style, random.Random(11)) != generate(6, style, random.Random(12))
