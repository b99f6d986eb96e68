"""Typed matchers of a database's values, as JSON: a plain value means equality, an object means a rule."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from envservers.webarena.evaluators.replies import plain

Matcher = str | int | float | None | Mapping[str, Any]
"""`5`, `"x"`, None: equal, of the same type. `{"any": true}`: whatever it is. `{"text": "x"}`: white space and case do
not count. `{"about": 5, "by": 1}`: a number near another. `{"one_of": [...]}`. `{"new": "cart"}`: the id of a row that
this episode inserted into the table."""


def matches(matcher: Matcher, value: Any, new_ids: Mapping[str, set[int]]) -> bool:
    """Whether a value fits; `new_ids` are the ids of inserted rows by table."""
    if not isinstance(matcher, Mapping):
        return type(value) is type(matcher) and value == matcher
    match dict(matcher):
        case {"any": True}:
            return True
        case {"text": str(text)}:
            return isinstance(value, str) and plain(value) == plain(text)
        case {"about": number, "by": most}:
            return isinstance(value, int | float) and abs(value - number) <= most
        case {"one_of": [*options]}:
            return any(matches(option, value, new_ids) for option in options)
        case {"new": str(table)}:
            return value in new_ids.get(table, set())
    raise ValueError(f"no such matcher: {matcher!r}")
