"""What a check found: one finding a rule, and what was measured. Its JSON has stable keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any


class Status(StrEnum):
    """How a rule came out."""

    PASS = "pass"
    FAIL = "fail"
    NOT_APPLICABLE = "not applicable"  # the card says so
    NOT_CHECKABLE = "not checkable by URL"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One rule's result."""

    rule: str
    status: Status
    statement: str
    detail: str
    """What was looked at, or where the rule is broken."""
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Latency:
    """How long one verb took, in milliseconds."""

    n: int
    p50_ms: float
    p99_ms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What an env costs, as seen from the caller of the sessions."""

    steps_per_s: float
    """Of one session, one step after the other: the bare env here, the wire by URL."""
    bytes_per_session: int | None
    """Memory that each idle session adds; None by URL."""
    verbs: Mapping[str, Latency]
    """create, reset, step, close."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The card of a check."""

    env: str
    version: str
    target: str
    """`this process` or a URL."""
    findings: Sequence[Finding]
    measured: Measured | None

    @property
    def ok(self) -> bool:
        """No rule failed."""
        return not self.failed

    @property
    def failed(self) -> list[str]:
        """Names of the rules that failed."""
        return [f.rule for f in self.findings if f.status is Status.FAIL]

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        return {
            "env": self.env,
            "version": self.version,
            "target": self.target,
            "ok": self.ok,
            "rules": [{**asdict(f), "status": f.status.value} for f in self.findings],
            "measured": None if self.measured is None else asdict(self.measured),
        }
