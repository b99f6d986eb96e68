"""JSON of a model, read strictly: no name twice in an object, no number that is none."""

from __future__ import annotations

import json
from typing import Any


class NotStrict(ValueError):
    """What Python's reader would take and this one does not; the text says what it is."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise NotStrict("a name stands in it twice")
    return found


def _constant(name: str) -> Any:
    raise NotStrict(f"{name} is no number")


STRICT = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_constant)
"""Raises NotStrict and the other ValueErrors of `json`, and RecursionError."""
