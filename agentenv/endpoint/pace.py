"""How fast requests may start: so many a minute, so many tokens a minute, and not before the endpoint's Retry-After.

Requests are spread evenly, first come first served; there are no bursts that a provider's window would refuse.
"""

from __future__ import annotations

import time
from collections.abc import Callable

MINUTE_S = 60.0


class Pace:
    """Shared by every request of a policy."""

    def __init__(
        self,
        *,
        requests_per_minute: float | None = None,
        tokens_per_minute: float | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """None sets no limit."""
        self._request_s = MINUTE_S / requests_per_minute if requests_per_minute else 0.0
        self._token_s = MINUTE_S / tokens_per_minute if tokens_per_minute else 0.0
        self._clock = clock
        self._next_request = self._next_token = self._held_until = 0.0

    def book(self, tokens: int) -> float:
        """Take the next free place for a request of about so many tokens; seconds until it may start."""
        now = self._clock()
        start = max(now, self._next_request, self._next_token, self._held_until)
        self._next_request = start + self._request_s
        self._next_token = start + tokens * self._token_s
        return start - now

    def correct(self, tokens: int) -> None:
        """A request took so many tokens more (less, if negative) than it was booked for."""
        self._next_token += tokens * self._token_s

    def hold(self, seconds: float) -> None:
        """Start nothing for so long: the endpoint asked for it."""
        self._held_until = max(self._held_until, self._clock() + seconds)

    def held_s(self) -> float:
        """Seconds for which nothing may start."""
        return max(0.0, self._held_until - self._clock())
