import sqlite3

import pytest
from web_worlds import shared_world

from envservers.webarena.world.world import World


@pytest.fixture
def world():
    world = World(shared_world())
    yield world
    world.close()


def test_a_world_knows_what_it_is(world):
    assert (world.seed, world.size, world.version, world.starts_at) == (0, "small", "1", "2026-03-02 09:00:00")


def test_rows_have_names(world):
    row = world.row("SELECT first_name, last_name FROM customer WHERE id = ?", 1)
    assert f"{row['first_name']} {row['last_name']}" == "Mara Lindqvist"
    assert world.rows("SELECT id FROM region ORDER BY id")[0]["id"] == 1


def test_a_column_and_a_value(world):
    assert world.column("SELECT id FROM region ORDER BY id") == [1, 2, 3]
    assert world.value("SELECT count(*) FROM region") == 3
    assert world.value("SELECT id FROM region WHERE id = 99") is None


def test_a_row_that_is_not_there_is_an_error(world):
    with pytest.raises(LookupError, match="no row"):
        world.row("SELECT id FROM region WHERE id = 99")


def test_nothing_can_be_written(world):
    with pytest.raises(sqlite3.OperationalError):
        world.rows("UPDATE customer SET first_name = 'X'")
