"""What an audit found."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

from agentenv.errors import AgentEnvError

ERROR = "error"
WARNING = "warning"


class AuditFailed(AgentEnvError):
    """Tokens would be trained that must not be, or with wrong numbers."""

    code = "audit_failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that is wrong, or worth knowing."""

    level: str
    """`error` stops a run, `warning` does not."""
    rule: str
    """Short name of what was checked; docs/tokens.md lists them."""
    where: str
    """Episode, and turn where it is about one."""
    text: str

    def __str__(self) -> str:
        return f"{self.level}: {self.rule}: {self.where}: {self.text}"


@dataclass(kw_only=True)
class Report:
    """Findings and counts."""

    findings: list[Finding] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    """episodes, turns, tokens, trained, ..."""

    @property
    def errors(self) -> list[Finding]:
        """Findings that stop a run."""
        return [f for f in self.findings if f.level == ERROR]

    @property
    def ok(self) -> bool:
        """No error was found."""
        return not self.errors

    def error(self, rule: str, where: str, text: str) -> None:
        """Add an error."""
        self.findings.append(Finding(level=ERROR, rule=rule, where=where, text=text))

    def warn(self, rule: str, where: str, text: str) -> None:
        """Add a warning."""
        self.findings.append(Finding(level=WARNING, rule=rule, where=where, text=text))

    def count(self, name: str, by: int = 1) -> None:
        """Count something."""
        self.counts[name] = self.counts.get(name, 0) + by

    def raise_on_error(self, what: str) -> None:
        """AuditFailed with every error, when there is one."""
        if self.ok:
            return
        lines = "\n".join(str(f) for f in self.errors[:MOST_SHOWN])
        more = f"\nand {len(self.errors) - MOST_SHOWN} more" if len(self.errors) > MOST_SHOWN else ""
        raise AuditFailed(f"the audit of {what} found {len(self.errors)} errors:\n{lines}{more}", report=self.to_json())

    def to_json(self) -> dict[str, Any]:
        """Stable keys: ok, counts, findings."""
        return {"ok": self.ok, "counts": dict(sorted(self.counts.items())), "findings": [*map(_plain, self.findings)]}


MOST_SHOWN = 20
"""Errors in the text of an exception; the report has all."""


def _plain(finding: Finding) -> dict[str, str]:
    return asdict(finding)


def joined(reports: Iterable[Report]) -> Report:
    """One report of several."""
    whole = Report()
    for report in reports:
        whole.findings += report.findings
        for name, count in report.counts.items():
            whole.count(name, count)
    return whole
