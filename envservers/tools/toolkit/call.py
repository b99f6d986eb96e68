"""Reading an action: `TOOL with Action Input: {JSON}`. The input is parsed as JSON and never evaluated."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

MAX_CHARS = 16_384
"""Of one action; a longer one is refused unread."""
FORM = "Action: [tool name] with Action Input: [a JSON object]"

_ACTION = re.compile(r"^[ \t]*Action[ \t]*:", re.MULTILINE | re.IGNORECASE)
_SPLIT = re.compile(r"\s+with\s+action\s+input\s*:", re.IGNORECASE)
_NAME = re.compile(r"[A-Za-z_]\w{0,63}", re.ASCII)


class Refused(Exception):
    """What a model asked for cannot be done; the message is the reason that it reads. Never leaves the toolkit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A tool's name with its arguments, not yet validated."""

    name: str
    arguments: Mapping[str, Any]

    def __str__(self) -> str:
        return f"{self.name} with Action Input: {json.dumps(self.arguments, ensure_ascii=False)}"


def read_call(text: str) -> Call:
    """The one call of an action, also behind a thought; Refused says what is wrong with it."""
    if len(text) > MAX_CHARS:
        raise Refused(f"the action has more than {MAX_CHARS} characters")
    marker = _ACTION.search(text)
    body = text[marker.end() :] if marker else text
    head, *rest = _SPLIT.split(body, maxsplit=1)
    name = head.strip().strip("[]`*").strip()
    if not rest or not _NAME.fullmatch(name):
        raise Refused(f'format error; answer in the form "{FORM}"')
    return Call(name=name, arguments=_arguments(rest[0].strip()))


def _arguments(text: str) -> Mapping[str, Any]:
    try:
        value = json.loads(text, object_pairs_hook=_object, parse_constant=_constant)
        json.dumps(value, ensure_ascii=False).encode()  # a lone surrogate is no text
    except UnicodeEncodeError:
        raise Refused("the Action Input holds a character that is no text (a lone surrogate)") from None
    except json.JSONDecodeError as error:
        raise Refused(f"the Action Input is not JSON: {error.msg} at character {error.pos}") from None
    except (RecursionError, ValueError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else "a number with too many digits"
        raise Refused(f"the Action Input is not usable: {reason}") from None
    if not isinstance(value, dict):
        raise Refused("the Action Input must be a JSON object, such as {}")
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise Refused("the Action Input names an argument twice")
    return found


def _constant(name: str) -> Any:
    raise Refused(f"the Action Input is not JSON: {name} is no number")
