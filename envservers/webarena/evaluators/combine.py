"""The checks of a task put together: guards of its kind, the product as the reward, and checks as JSON."""

from __future__ import annotations

import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from enum import StrEnum
from typing import Any

from envservers.webarena.evaluators.answer import Answer
from envservers.webarena.evaluators.database import Database
from envservers.webarena.evaluators.evidence import Check, Evidence, Verdict
from envservers.webarena.evaluators.form import Form
from envservers.webarena.evaluators.log import Log
from envservers.webarena.evaluators.status import Unachievable, says_no
from envservers.webarena.evaluators.url import Url

CHECKS: dict[str, type] = {
    "answer": Answer,
    "db": Database,
    "url": Url,
    "form": Form,
    "log": Log,
    "status": Unachievable,
}
"""Every check by the name that stands for it in JSON."""


class TaskKind(StrEnum):
    """What a task asks for."""

    RETRIEVE = "retrieve"
    NAVIGATE = "navigate"
    MUTATE = "mutate"
    FILL = "fill"
    UNACHIEVABLE = "unachievable"

    @property
    def judged_when_cut(self) -> bool:
        """Whether an episode that ran out of steps can still have done it."""
        return self in (TaskKind.MUTATE, TaskKind.FILL)


NEEDED: dict[TaskKind, str] = {
    TaskKind.RETRIEVE: "answer",
    TaskKind.NAVIGATE: "url",
    TaskKind.MUTATE: "db",
    TaskKind.FILL: "form",
    TaskKind.UNACHIEVABLE: "status",
}
"""The check that a task of a kind cannot be without."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stopped:
    """The agent said that it is done, and not that the task cannot be done."""

    def judge(self, evidence: Evidence) -> Verdict:
        """Whether it stopped, with anything but `N/A`."""
        if evidence.answer is None:
            return Verdict(check="stop", passed=False, reason="the episode ended without stop")
        if says_no(evidence.answer):
            return Verdict(check="stop", passed=False, reason="the answer says N/A of a task that can be done")
        return Verdict(check="stop", passed=True, reason="stopped")


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What an episode is worth."""

    verdicts: tuple[Verdict, ...]

    @property
    def passed(self) -> bool:
        """The product of the checks."""
        return all(v.passed for v in self.verdicts)

    @property
    def progress(self) -> float:
        """The share of checks that passed; never a reward."""
        return sum(v.passed for v in self.verdicts) / len(self.verdicts)


def judge(kind: TaskKind, checks: Sequence[Check], evidence: Evidence) -> Judgement:
    """Judge an episode's end by the task's checks and the guards of its kind."""
    return Judgement(verdicts=tuple(check.judge(evidence) for check in guarded(kind, checks)))


def guarded(kind: TaskKind, checks: Sequence[Check]) -> list[Check]:
    """The checks with those that the kind brings: no other change, and stop where the kind needs it."""
    if not any(isinstance(check, CHECKS[NEEDED[kind]]) for check in checks):
        raise ValueError(f"a {kind} task needs a check of kind {NEEDED[kind]!r}")
    database = [check for check in checks if isinstance(check, Database)]
    if kind is TaskKind.MUTATE:
        if not any(check.expected for check in database):
            raise ValueError("a mutate task must expect a change")
    elif any(check.expected for check in database):
        raise ValueError(f"a {kind} task must leave the database as it is")
    full = list(checks)
    if not database:
        full.append(Database())
    if kind is TaskKind.NAVIGATE:
        full.append(Stopped())
    return full


def to_json(check: Check) -> dict[str, Any]:
    """A check as JSON values, defaults left out."""
    name = next(n for n, cls in CHECKS.items() if type(check) is cls)
    return {"check": name, **_dumped(check)}


def from_json(value: Mapping[str, Any]) -> Check:
    """The check that `to_json` wrote."""
    rest = {name: item for name, item in value.items() if name != "check"}
    check: Check = _built(CHECKS[value["check"]], rest)
    return check


def _dumped(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: _dumped(getattr(value, f.name)) for f in fields(value) if getattr(value, f.name) != f.default}
    if isinstance(value, tuple | list):
        return [_dumped(item) for item in value]
    if isinstance(value, Mapping):
        return {name: _dumped(item) for name, item in value.items()}
    return value


def _built(hint: Any, value: Any) -> Any:
    """`value` in the type that a field declares: dataclasses and tuples come back from objects and arrays."""
    if isinstance(hint, type) and is_dataclass(hint):
        hints = typing.get_type_hints(hint)
        return hint(**{name: _built(hints[name], item) for name, item in value.items()})
    if typing.get_origin(hint) is tuple:
        inner = typing.get_args(hint)
        kinds = [inner[0]] * len(value) if inner[-1] is Ellipsis else inner
        return tuple(_built(kind, item) for kind, item in zip(kinds, value, strict=True))
    return value
