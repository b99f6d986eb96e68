"""What the original's rules find on an episode. What could not be judged has no score, never the score 0."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class PageFailed(Exception):
    """A page or a site did not answer, so nothing can be said of it."""


class ScriptFailed(Exception):
    """A script threw: the page is not one that it was written for."""


class Status(StrEnum):
    """Whether there is a score."""

    OK = "ok"
    ERROR = "error"
    """A site or a page failed."""
    UNSCORED = "unscored"
    """A judge failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One condition."""

    check: str
    """Its kind and rule: `string_match:must_include`."""
    passed: bool | None
    """None when it could not be judged."""
    reason: str
    """One line, without the expected answer."""
    failed: Status = Status.ERROR
    """Why it could not be judged, where it could not."""
    judge: str = ""
    """Who judged, where a judge was asked."""
    words: str = ""
    """The judge's own, for the record; never asked for again."""
    needs_judge: bool = False
    """The comparison by words alone said no to what only a reader can decide."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """The product of all conditions."""

    score: float | None
    """1.0 or 0.0; None unless the status is ok."""
    status: Status
    checks: tuple[Found, ...]
    rules: str
    """`original` or `strict`."""
    variants: tuple[str, ...] = ()
    """Where the rules differ from the original's, by name."""


def product(checks: Sequence[Found], *, rules: str, variants: tuple[str, ...] = ()) -> Scored:
    """0 with any failed condition, whatever the others are; no score with any that could not be judged; else 1."""
    status = Status.OK
    score: float | None = 1.0
    if any(found.passed is False for found in checks):
        score = 0.0
    elif unknown := [found for found in checks if found.passed is None]:
        status, score = unknown[0].failed, None
    return Scored(score=score, status=status, checks=tuple(checks), rules=rules, variants=variants)
