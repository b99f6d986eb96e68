"""What a rule is, and how it says what it found."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum

from agentenv.testing.subject import Subject


class Needs(StrEnum):
    """What a rule must get at."""

    PLAYER = "player"
    """Any way to play episodes: the bare object here, a session by URL."""
    SESSION = "session"
    """Sessions: of a table in this process, or by URL."""
    OBJECT = "object"
    """The env's class or its task set, hence this process."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One rule. `check` returns what it looked at, in a few words, and raises Broken, NotApplicable or NotCheckable."""

    name: str
    statement: str
    needs: Needs
    check: Callable[[Subject], Awaitable[str]]


class Broken(Exception):
    """The env breaks the rule; the message says where."""


class NotApplicable(Exception):
    """The env's card declares that the rule does not concern it."""


class NotCheckable(Exception):
    """The rule needs what a URL does not give."""
