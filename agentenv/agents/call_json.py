"""A call written as one JSON object: `{"name": "search", "arguments": {"query": "..."}}`, with or without words around.

Tags and fences that models put around calls do not matter: objects are looked for in the text. Bounded: an object that
cannot be read ends the search.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from agentenv.functions import Call, Refused
from agentenv.functions.strict import STRICT

MAX_STARTS = 200
"""Opening braces that are looked at."""
NONE = 'there is no call; answer with one JSON object such as {"name": "...", "arguments": {...}}'

_OPENING = re.compile(r"\{\s*(?=[\"}])")
_MARKUP = re.compile(r"</?tool_calls?>|[`\s]|^json", re.IGNORECASE)


def read_json_call(text: str) -> tuple[Call, bool]:
    """The one call of a text, and whether words follow it; Refused says why there is none."""
    calls, end = [], 0
    for _ in range(MAX_STARTS):
        opening = _OPENING.search(text, end)
        if opening is None:
            break
        value, end = _decoded(text, opening.start())
        if value:  # {} is an ornament of prose
            calls.append(value)
    if not calls:
        raise Refused(NONE)
    if len(calls) > 1:
        raise Refused(f"there are {len(calls)} JSON objects; make exactly one call")
    return call_of(calls[0]), bool(_MARKUP.sub("", text[end:]))


def call_of(value: Mapping[str, Any]) -> Call:
    """The call of an object with a name and arguments, also inside `function`, as endpoints wrap it."""
    inner = value.get("function", value)
    fields = inner if isinstance(inner, Mapping) else value
    name = fields.get("name")
    if not isinstance(name, str) or not name:
        raise Refused('the JSON object has no "name" of a function')
    return Call(name=name, arguments=arguments_of(name, fields.get("arguments", fields.get("parameters"))))


def arguments_of(name: str, value: Any) -> Mapping[str, Any]:
    """The arguments of a call: an object, or the text of one; nothing stands for none."""
    if isinstance(value, str) and value.strip():
        try:
            value = STRICT.decode(value)
        except (ValueError, RecursionError) as exc:
            raise Refused(f"{name}: its arguments are not JSON: {_short(exc)}") from None
    if value in (None, ""):
        return {}
    if not isinstance(value, Mapping):
        raise Refused(f"{name}: its arguments must be a JSON object")
    return value


def written_json_call(call: Call) -> str:
    """The text of a model that makes this call."""
    return json.dumps({"name": call.name, "arguments": dict(call.arguments)}, ensure_ascii=False)


def _decoded(text: str, start: int) -> tuple[dict[str, Any], int]:
    try:
        return STRICT.raw_decode(text, start)
    except (ValueError, RecursionError) as exc:
        raise Refused(f"the JSON object cannot be read: {_short(exc)}") from None


def _short(error: Exception) -> str:
    return "it is nested too deeply" if isinstance(error, RecursionError) else str(error)[:100]
