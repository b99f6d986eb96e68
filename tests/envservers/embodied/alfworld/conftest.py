import pytest

from envservers.embodied.alfworld.generate import make_house
from envservers.embodied.alfworld.tasks import table


@pytest.fixture(scope="session")
def homes():
    """Every row of the table with its household, by split."""
    return {
        split: [(row, make_house(row.template, row.room, row.seed)) for row in rows] for split, rows in table().items()
    }
