"""A board that takes a while is shown a little longer while its runs go on; one that is quick is always new."""

from collections.abc import Iterator

import pytest
from made_pages import play_one
from made_runs import new_run
from sqlalchemy.engine import URL

from evals.store.store import Store
from evals.web.boards import Boards


class Clock:
    """Every look at it takes `step` seconds."""

    def __init__(self, step: float) -> None:
        self.now, self.step = 0.0, step

    def __call__(self) -> float:
        self.now += self.step
        return self.now


@pytest.fixture
def store(file_url: URL) -> Iterator[Store]:
    with Store.open(file_url) as opened:
        opened.add_runs([new_run("one", tasks=30)])
        yield opened


def more(store: Store) -> None:
    play_one(store, "one", store.open_slots("one")[0])


def shown(boards: Boards, store: Store) -> tuple[int, float]:
    found = boards.of(store.runs())
    return found.rows[0].measure.n, found.age_s


def test_a_quick_board_is_computed_with_every_episode(store: Store):
    boards = Boards(store, clock=Clock(0.01))
    assert shown(boards, store) == (0, 0.0)
    more(store)
    assert shown(boards, store) == (1, 0.0)


def test_a_slow_board_is_shown_until_computing_is_a_small_share_of_the_time(store: Store):
    clock = Clock(1.0)
    boards = Boards(store, clock=clock)
    shown(boards, store)
    more(store)
    assert shown(boards, store) == (0, 1.0)
    clock.now += 15
    assert shown(boards, store) == (0, 17.0)
    clock.now += 5
    assert shown(boards, store) == (1, 0.0)


def test_nothing_is_old_when_nothing_has_changed(store: Store):
    boards = Boards(store, clock=Clock(1.0))
    assert [shown(boards, store) for _ in range(3)] == [(0, 0.0)] * 3
