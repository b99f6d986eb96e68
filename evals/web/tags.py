"""Automatic tags of episodes: what commonly explains a failure, found in the record by rules.

parse failure      a completion was no action
invalid action     the environment refused an action, or it was none of those that it offered
same action x3     the same action three times in a row
stopped early      a valid episode ended without success before half of its steps were used
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

PARSE, INVALID, REPEATED, EARLY = "parse failure", "invalid action", "same action x3", "stopped early"
TAGS = (PARSE, INVALID, REPEATED, EARLY)
CHEAP = frozenset({PARSE, EARLY})
"""Known from the episode's own row."""

REPEATS = 3
_LIMITS = ("step_limit", "time_limit")


def of_row(*, outcome: str, valid: bool, success: bool, steps: int, malformed: int, max_steps: int) -> set[str]:
    """The tags that need no turns."""
    found = {PARSE} if malformed else set()
    unused = valid and not success and outcome not in _LIMITS and 2 * steps < max_steps
    return found | ({EARLY} if unused else set())


def of_turns(turns: Sequence[Mapping[str, Any]]) -> set[str]:
    """The tags that need turns, which are rows of the store."""
    found = {REPEATED} if repeats(turn["action"] for turn in turns) else set()
    return found | ({INVALID} if any(_refused(turn) for turn in turns) else set())


def repeats(actions: Iterable[str]) -> bool:
    """Whether the same action comes three times in a row."""
    last, count = None, 0
    for action in actions:
        count = count + 1 if action == last else 1
        last = action
        if count == REPEATS:
            return True
    return False


def refusal(info: Mapping[str, Any], action: str, available: Sequence[str] | None) -> str | None:
    """Why the environment did not take an action, as it says in `info.refused` or `info.error`; None if it took it."""
    for name in ("refused", "error"):
        told = info.get(name)
        if told:
            return told if isinstance(told, str) else "refused"
    return "not among the offered actions" if available is not None and action not in available else None


def _refused(turn: Mapping[str, Any]) -> bool:
    if turn["malformed"] is not None or turn["extra"] is None:
        return False
    data = zlib.decompress(turn["extra"])
    if b'"refused"' not in data and b'"error"' not in data and b'"available_actions"' not in data:
        return False  # most turns: reading their tokens and messages would take longer than all else
    extra = json.loads(data)
    return refusal(extra.get("info", {}), turn["action"], extra.get("available_actions")) is not None
