"""What evaluators look at, and what they say. Nothing here is asked of a live page after the fact."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from envservers.webarena.engines.engine import Field
from envservers.webarena.nodes import Tab
from envservers.webarena.state.diff import Change
from envservers.webarena.state.session import Logged


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """The end of an episode."""

    answer: str | None
    """What came with `stop`; None when the episode was cut before."""
    tabs: Sequence[Tab]
    active: int
    """The tab that is looked at, an index of `tabs`."""
    fields: Sequence[Field] = ()
    """Form controls of the active page."""
    log: Sequence[Logged] = ()
    changes: Sequence[Change] = ()
    """The session's database against the world's."""

    @property
    def url(self) -> str:
        """Of the active tab."""
        return self.tabs[self.active].url if self.tabs else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What one check found."""

    check: str
    """Its kind: `answer`, `db`, `url`, ..."""
    passed: bool
    reason: str
    """One line, without the expected answer: it may be shown to whoever reads the record."""


class Check(Protocol):
    """One condition on an episode's end; pure, and data that goes through JSON."""

    def judge(self, evidence: Evidence) -> Verdict:
        """Whether it holds, and why."""
