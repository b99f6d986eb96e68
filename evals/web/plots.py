"""Where things are drawn, in the units of an SVG's view box."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

BAR_WIDTH = 120.0
"""Of an interval's drawing."""

WIDTH, HEIGHT, LEFT, BOTTOM, TOP = 640.0, 300.0, 52.0, 40.0, 22.0
"""Of the plot of score against cost: its size, and the room for words around it."""

WIDE = 20.0
"""From this ratio of the dearest to the cheapest on, cost is drawn by its logarithm."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """An interval, and the bounds around it."""

    low: float
    high: float
    x: float
    bound_low: float
    bound_high: float


def bar(
    value: float | None,
    low: float | None,
    high: float | None,
    *,
    bounds: tuple[float | None, float | None] = (None, None),
    least: float = 0.0,
    most: float = 1.0,
) -> Bar | None:
    """Where an interval lies between `least` and `most`; None where there is no value."""
    if value is None:
        return None

    def at(v: float | None) -> float:
        share = 0.0 if most == least else ((value if v is None else v) - least) / (most - least)
        return round(BAR_WIDTH * min(1.0, max(0.0, share)), 1)

    return Bar(low=at(low), high=at(high), x=at(value), bound_low=at(bounds[0]), bound_high=at(bounds[1]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """An agent by what an episode costs and what it scores."""

    name: str
    cost: float
    score: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """The same in the drawing."""

    point: Point
    x: float
    y: float
    y_low: float
    y_high: float
    anchor: str
    """`start`, or `end` where its name would not fit to the right."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    """A mark on an axis."""

    at: float
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Scatter:
    """The drawing."""

    points: list[Placed]
    x_ticks: list[Tick]
    y_ticks: list[Tick]
    logarithmic: bool


def scatter(points: Sequence[Point]) -> Scatter | None:
    """Score against cost; None for fewer than two points, which show nothing."""
    if len(points) < 2:
        return None
    costs = [p.cost for p in points]
    cheapest, dearest = min(c for c in costs), max(costs)
    logarithmic = cheapest > 0 and dearest / cheapest >= WIDE
    ends = [v for p in points for v in (p.score, p.low, p.high) if v is not None]
    least, most = min(0.0, *ends), max(1.0, *ends)

    def scaled(cost: float) -> float:
        if logarithmic:
            low, high = math.floor(math.log10(cheapest)), math.ceil(math.log10(dearest))
            return (math.log10(cost) - low) / max(1, high - low)
        return cost / (1.05 * dearest) if dearest > 0 else 0.0

    def x(cost: float) -> float:
        return round(LEFT + scaled(cost) * (WIDTH - LEFT - 20), 1)

    def y(score: float) -> float:
        return round(TOP + (1 - (score - least) / (most - least)) * (HEIGHT - BOTTOM - TOP), 1)

    placed = [
        Placed(
            point=p,
            x=x(p.cost),
            y=y(p.score),
            y_low=y(p.score if p.low is None else p.low),
            y_high=y(p.score if p.high is None else p.high),
            anchor="end" if x(p.cost) > 0.7 * WIDTH else "start",
        )
        for p in sorted(points, key=lambda p: (p.cost, -p.score, p.name))
    ]
    if logarithmic:
        marks = [10.0**e for e in range(math.floor(math.log10(cheapest)), math.ceil(math.log10(dearest)) + 1)]
    else:
        marks = round_numbers(1.05 * dearest)
    return Scatter(
        points=placed,
        x_ticks=[Tick(at=x(v), text=f"{v:.3g}") for v in marks],
        y_ticks=[Tick(at=y(v), text=f"{v:.3g}") for v in round_numbers(most, least)],
        logarithmic=logarithmic,
    )


def round_numbers(most: float, least: float = 0.0) -> list[float]:
    """Four to ten round numbers from `least` to `most`."""
    if most <= least:
        return [least]
    rough = (most - least) / 5
    unit = 10.0 ** math.floor(math.log10(rough))
    step = next(unit * times for times in (1, 2, 2.5, 5, 10) if unit * times >= rough * 0.999)
    first = math.ceil(least / step - 1e-9)
    return [round(i * step, 12) for i in range(first, math.floor(most / step + 1e-9) + 1)]
