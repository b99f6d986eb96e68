"""Where intervals, points and ticks are drawn."""

import pytest

from evals.web.plots import BAR_WIDTH, HEIGHT, WIDTH, Point, bar, round_numbers, scatter


def point(name: str, cost: float, score: float = 0.5) -> Point:
    return Point(name=name, cost=cost, score=score, low=score - 0.1, high=score + 0.1)


def test_an_interval_lies_between_its_ends_and_nothing_leaves_the_drawing():
    drawn = bar(0.5, 0.25, 0.75, bounds=(0.4, 0.6))
    assert drawn is not None
    assert (drawn.low, drawn.x, drawn.high) == (BAR_WIDTH / 4, BAR_WIDTH / 2, 3 * BAR_WIDTH / 4)
    assert drawn.bound_low == pytest.approx(0.4 * BAR_WIDTH)
    outside = bar(-3.0, None, 7.0)
    assert outside is not None
    assert (outside.low, outside.x, outside.high) == (0.0, 0.0, BAR_WIDTH)


def test_what_is_not_known_is_not_drawn():
    assert bar(None, 0.1, 0.2) is None
    alone = bar(0.5, None, None, least=0.5, most=0.5)
    assert alone is not None
    assert alone.low == alone.high == alone.x


def test_one_point_shows_nothing_and_two_lie_in_the_order_of_cost_and_score():
    assert scatter([point("a", 1.0)]) is None
    drawn = scatter([point("dear", 2.0, 0.9), point("cheap", 1.0, 0.2)])
    assert drawn is not None
    cheap, dear = drawn.points
    assert (cheap.point.name, dear.point.name) == ("cheap", "dear")
    assert cheap.x < dear.x
    assert cheap.y > dear.y
    assert not drawn.logarithmic


def test_costs_far_apart_are_drawn_by_their_logarithm_and_free_ones_are_not():
    far = scatter([point("a", 0.001), point("b", 1.0)])
    assert far is not None
    assert far.logarithmic
    assert [tick.text for tick in far.x_ticks] == ["0.001", "0.01", "0.1", "1"]
    free = scatter([point("a", 0.0), point("b", 1.0), point("c", 0.0)])
    assert free is not None
    assert not free.logarithmic
    nothing = scatter([point("a", 0.0), point("b", 0.0)])
    assert nothing is not None
    assert [tick.text for tick in nothing.x_ticks] == ["0"]


@pytest.mark.parametrize("costs", [(1e-6, 1e6), (0.0, 3.0), (5.0, 5.0), (0.9, 1.1)])
def test_everything_is_inside(costs: tuple[float, float]):
    drawn = scatter([point(f"{cost}", cost, score) for cost in costs for score in (0.0, 1.0, -2.0)])
    assert drawn is not None
    places = [(p.x, y) for p in drawn.points for y in (p.y, p.y_low, p.y_high)]
    places += [(tick.at, 0.0) for tick in drawn.x_ticks] + [(0.0, tick.at) for tick in drawn.y_ticks]
    assert all(0 <= x <= WIDTH and 0 <= y <= HEIGHT for x, y in places)


@pytest.mark.parametrize(
    ("most", "least", "numbers"),
    [
        (1.0, 0.0, [0, 0.2, 0.4, 0.6, 0.8, 1.0]),
        (0.0019, 0.0, [0, 0.0005, 0.001, 0.0015]),
        (100.0, -100.0, [-100, -50, 0, 50, 100]),
        (1.0, 1.0, [1.0]),
    ],
)
def test_ticks_are_round(most: float, least: float, numbers: list[float]):
    assert round_numbers(most, least) == pytest.approx(numbers)
