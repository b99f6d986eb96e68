"""When things happen: bursty days, evenings, seasons. Times are texts `YYYY-MM-DD HH:MM:SS`."""

from __future__ import annotations

import datetime as dt

from envservers.webarena.world.draw import Draw, Weighted
from envservers.webarena.world.sizes import DAYS, STARTS_AT

START = dt.datetime.fromisoformat(STARTS_AT)
FIRST_DAY = START.date() - dt.timedelta(days=DAYS)

_WEEK = (1.15, 0.95, 0.9, 0.95, 1.0, 1.25, 1.35)  # Monday first
_MONTH = (0.85, 0.8, 0.9, 0.95, 1.05, 1.0, 0.9, 0.85, 1.0, 1.05, 1.6, 1.75)
_HOUR = (3, 1, 1, 1, 1, 2, 5, 9, 11, 12, 13, 13, 15, 12, 11, 11, 12, 14, 17, 22, 25, 22, 14, 7)


def text(moment: dt.datetime) -> str:
    """As the tables have it."""
    return moment.strftime("%Y-%m-%d %H:%M:%S")


def day_text(day: dt.date) -> str:
    """`YYYY-MM-DD`."""
    return day.isoformat()


class Calendar:
    """Days of the shop's history, weighted: weekends, the end of the year, growth, and a few campaign days."""

    def __init__(self, draw: Draw) -> None:
        self._hours = Weighted(_HOUR)
        weights = []
        burst = 1.0
        for number in range(DAYS):
            day = FIRST_DAY + dt.timedelta(days=number)
            # A campaign starts on about one day in thirty and fades within a week.
            burst = 2.0 + 3.0 * draw.random() if draw.chance(1 / 30) else max(1.0, burst * 0.6)
            growth = 0.6 + 0.8 * number / DAYS
            weights.append(_WEEK[day.weekday()] * _MONTH[day.month - 1] * growth * burst * (0.5 + draw.random()))
        self._days = Weighted(weights)

    def moment(self, draw: Draw) -> dt.datetime:
        """A moment of the history."""
        day = FIRST_DAY + dt.timedelta(days=self._days.draw(draw))
        return at_hour(draw, day, self._hours.draw(draw))


def at_hour(draw: Draw, day: dt.date, hour: int) -> dt.datetime:
    """A moment of that hour."""
    return dt.datetime(day.year, day.month, day.day, hour, draw.below(60), draw.below(60))


def later(draw: Draw, moment: dt.datetime, low_h: float, high_h: float) -> dt.datetime:
    """Some hours later, yet before session time starts."""
    span = dt.timedelta(seconds=int(3600 * (low_h + (high_h - low_h) * draw.random())))
    rest = START - moment
    if span >= rest:
        span = dt.timedelta(seconds=int(rest.total_seconds() * (0.2 + 0.6 * draw.random())))
    return moment + span
