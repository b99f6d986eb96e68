"""Whether a final answer is the expected one, by type."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

IMPOSSIBLE = "impossible"
"""The answer to a request that cannot be carried out as it stands."""

_NUMBER = re.compile(r"-?\d{1,15}(?:\.\d{1,6})?", re.ASCII)


def right(answer: object, wanted: Mapping[str, Any] | None) -> bool:
    """`wanted` is `{"type": number | date | text | texts, "value": ...}`; where it is None, nothing is asked."""
    if wanted is None:
        return True
    match wanted["type"]:
        case "number":
            return bool(_number(answer) == wanted["value"])
        case "date":
            return _date(answer) == date.fromisoformat(wanted["value"])
        case "texts":
            return _texts(answer) == sorted(map(_plain, wanted["value"]))
    return isinstance(answer, str) and _plain(answer) == _plain(wanted["value"])


def _number(answer: object) -> float | None:
    if isinstance(answer, str) and _NUMBER.fullmatch(answer.strip()):
        return float(answer)
    return answer if isinstance(answer, (int, float)) and not isinstance(answer, bool) else None


def _date(answer: object) -> date | None:
    try:
        return date.fromisoformat(answer.strip()) if isinstance(answer, str) and len(answer.strip()) == 10 else None
    except ValueError:
        return None


def _texts(answer: object) -> list[str] | None:
    if isinstance(answer, str):
        return [_plain(answer)]
    if isinstance(answer, Sequence) and all(isinstance(part, str) for part in answer):
        return sorted(map(_plain, answer))
    return None


def _plain(text: str) -> str:
    """Case, repeated blanks, quotes around it and a full stop behind make no difference."""
    return " ".join(text.split()).strip("\"'“”‘’.").casefold()
