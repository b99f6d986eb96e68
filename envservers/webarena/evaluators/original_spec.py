"""The `eval` part of a task in the original's file, read and bounded. The file is anybody's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

TYPES = ("string_match", "url_match", "program_html")
URL_NOTE = "GOLD in PRED"
UNACHIEVABLE = "N/A"
LONGEST = 20_000
"""Characters of one text."""
MOST = 100
"""Items of one list."""


class BadTask(ValueError):
    """A task's data do not have the form that they must have; names the place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """One page of `program_html`, and what must be on it."""

    url: str
    """An address, `last` or `func:...`."""
    locator: str
    """Empty for the whole page, JavaScript, or `func:...`."""
    exact: str | None
    includes: tuple[str, ...]
    """Each may hold alternatives, ` |OR| ` between them. Unused with `exact`."""
    prepare: tuple[str, ...] = ()
    """JavaScript to run before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """How a task is scored; unknown keys are left out."""

    types: tuple[str, ...]
    exact: str | None = None
    includes: tuple[str, ...] | None = None
    fuzzy: tuple[str, ...] | None = None
    unachievable: bool = False
    reason: str = ""
    """Why the task cannot be done, where it cannot."""
    reference_url: str = ""
    targets: tuple[Target, ...] = ()


def read_evaluation(record: Any) -> Evaluation:
    """BadTask says what does not fit and where."""
    record = _mapping(record, "eval")
    types = _texts(record.get("eval_types"), "eval.eval_types")
    unknown = [name for name in types if name not in TYPES]
    if unknown or not types:
        raise BadTask(f"eval.eval_types: {list(types)!r} must be some of {', '.join(TYPES)}")
    note = record.get("url_note", URL_NOTE)
    if "url_match" in types and note != URL_NOTE:
        raise BadTask(f"eval.url_note: {note!r} is no known rule; there is {URL_NOTE!r}")
    targets = record.get("program_html") or []
    if not isinstance(targets, list) or len(targets) > MOST:
        raise BadTask(f"eval.program_html: must be a list of at most {MOST} targets")
    evaluation = Evaluation(
        types=types,
        **_answers(record.get("reference_answers") or {}),
        reason=_text(record.get("string_note") or "", "eval.string_note"),
        reference_url=_text(record.get("reference_url") or "", "eval.reference_url"),
        targets=tuple(_target(target, f"eval.program_html[{place}]") for place, target in enumerate(targets)),
    )
    _check_complete(evaluation)
    return evaluation


def _answers(record: Any) -> dict[str, Any]:
    record = _mapping(record, "eval.reference_answers")
    found: dict[str, Any] = {}
    for key, value in record.items():
        where = f"eval.reference_answers.{key}"
        match key:
            case "exact_match":
                found["exact"] = _text(value, where)
            case "must_include":
                found["includes"] = _texts(value, where)
            case "fuzzy_match" if value == UNACHIEVABLE:
                found["unachievable"] = True
            case "fuzzy_match":
                found["fuzzy"] = _texts(value, where)
            case _:
                raise BadTask(f"{where}: no such rule; there are exact_match, must_include and fuzzy_match")
    return found


def _target(record: Any, where: str) -> Target:
    record = _mapping(record, where)
    contents = _mapping(record.get("required_contents"), f"{where}.required_contents")
    exact = contents.get("exact_match")
    if exact is None and not contents.get("must_include"):
        raise BadTask(f"{where}.required_contents: needs exact_match or must_include")
    return Target(
        url=_text(record.get("url"), f"{where}.url"),
        locator=_text(record.get("locator", ""), f"{where}.locator"),
        exact=None if exact is None else _text(exact, f"{where}.required_contents.exact_match"),
        includes=_texts(contents.get("must_include", []), f"{where}.required_contents.must_include"),
        prepare=_texts(record.get("prep_actions", []), f"{where}.prep_actions"),
    )


def _check_complete(found: Evaluation) -> None:
    """Every evaluator has something to check: an empty product would be the score 1."""
    if "string_match" in found.types:
        rules = (found.exact is not None, bool(found.includes), bool(found.fuzzy), found.unachievable)
        if not any(rules):
            raise BadTask("eval.reference_answers: string_match without an answer")
    if "url_match" in found.types and not found.reference_url:
        raise BadTask("eval.reference_url: url_match without an address")
    if "program_html" in found.types and not found.targets:
        raise BadTask("eval.program_html: no target")


def _mapping(value: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise BadTask(f"{where}: must be an object, not {type(value).__name__}")
    return value


def _text(value: Any, where: str) -> str:
    if not isinstance(value, str) or len(value) > LONGEST:
        raise BadTask(f"{where}: must be a text of at most {LONGEST} characters")
    return value


def _texts(value: Any, where: str) -> tuple[str, ...]:
    if not isinstance(value, Sequence) or isinstance(value, str) or len(value) > MOST:
        raise BadTask(f"{where}: must be a list of at most {MOST} texts")
    return tuple(_text(item, f"{where}[{place}]") for place, item in enumerate(value))
