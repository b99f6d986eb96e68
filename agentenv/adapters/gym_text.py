"""Gymnasium's spaces as text: observations written as JSON, actions read from JSON and checked, never evaluated."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import Space, spaces

_AROUND = " \t\r\n.`\"'“”‘’"


class BadText(ValueError):
    """A text that is no action of the space; the message says what would be."""


def supported(space: Space[Any]) -> bool:
    """Whether actions of the space can be read from text."""
    match space:
        case spaces.Dict():
            return all(supported(s) for s in space.spaces.values())
        case spaces.Tuple():
            return all(supported(s) for s in space.spaces)
        case _:
            return isinstance(
                space, spaces.Discrete | spaces.MultiDiscrete | spaces.MultiBinary | spaces.Box | spaces.Text
            )


def grammar(space: Space[Any]) -> str:
    """What an action of the space looks like, in words."""
    match space:
        case spaces.Discrete():
            return f"an integer from {int(space.start)} to {int(space.start + space.n - 1)}"
        case spaces.Text():
            return f"a text of {space.min_length} to {space.max_length} characters"
        case spaces.Box():
            bounds = f"between {_bound(space.low)} and {_bound(space.high)}"
            return f"a JSON list of numbers, shape {list(space.shape)}, {bounds}"
        case spaces.MultiDiscrete():
            return f"a JSON list of integers, shape {list(space.shape)}, each below {json.dumps(plain(space.nvec))}"
        case spaces.MultiBinary():
            return f"a JSON list of 0 and 1, shape {list(space.shape)}"
        case spaces.Tuple():
            return "a JSON list of: " + "; ".join(grammar(s) for s in space.spaces)
        case spaces.Dict():
            return "a JSON object with " + "; ".join(f"{k!r}: {grammar(s)}" for k, s in space.spaces.items())
    raise TypeError(f"no text form for the space {space}")


def schema(space: Space[Any]) -> Mapping[str, Any]:
    """The JSON Schema of an action; in detail for single values, by `grammar` for the others."""
    match space:
        case spaces.Discrete():
            first = int(space.start)
            return {"type": "integer", "minimum": first, "maximum": first + int(space.n) - 1}
        case spaces.Text():
            example = next(iter(sorted(space.character_set))) * max(1, space.min_length)
            return {"type": "string", "description": grammar(space), "examples": [example]}
        case spaces.Dict():
            return {"type": "object", "description": grammar(space)}
    return {"type": "array", "description": grammar(space)}


def parse_action(space: Space[Any], text: str) -> Any:
    """The action that `text` names; BadText when it names none. Around JSON, quotes and a full stop are read over."""
    if isinstance(space, spaces.Text):
        return _checked(space, text)
    try:
        value = json.loads(text.strip(_AROUND))
    except (ValueError, RecursionError):
        raise BadText(f"expected {grammar(space)}") from None
    return _checked(space, _from_json(space, value))


def _from_json(space: Space[Any], value: Any) -> Any:
    match space:
        # Beyond 64 bits numpy raises where it should say no.
        case spaces.Discrete() if type(value) is int and abs(value) < 2**63:
            return np.int64(value)
        case spaces.Text() if isinstance(value, str):
            return value
        case spaces.Box() | spaces.MultiDiscrete() | spaces.MultiBinary():
            return _array(space, value)
        case spaces.Tuple() if isinstance(value, list) and len(value) == len(space.spaces):
            return tuple(_from_json(s, v) for s, v in zip(space.spaces, value, strict=True))
        case spaces.Dict() if isinstance(value, dict) and set(value) == set(space.spaces):
            return {k: _from_json(s, value[k]) for k, s in space.spaces.items()}
    raise BadText(f"expected {grammar(space)}")


def _array(space: Space[Any], value: Any) -> np.ndarray[Any, Any]:
    """`value` as an array of the space; whole numbers stay whole, so that 1.5 is never read as 1."""
    wanted = np.dtype(space.dtype or float)
    try:
        array = np.asarray(value)
    except (ValueError, OverflowError):  # ragged lists
        raise BadText(f"expected {grammar(space)}") from None
    if array.dtype.kind not in ("iuf" if wanted.kind == "f" else "iu") or array.shape != space.shape:
        raise BadText(f"expected {grammar(space)}")
    with np.errstate(over="ignore"):
        cast = array.astype(wanted)
    if wanted.kind != "f" and not np.array_equal(cast, array):  # wrapped around
        raise BadText(f"expected {grammar(space)}")
    return cast


def _checked(space: Space[Any], value: Any) -> Any:
    if not space.contains(value):
        raise BadText(f"expected {grammar(space)}")
    return value


def plain(value: Any) -> Any:
    """Numpy values, tuples and mappings as JSON values; floats as the shortest text of their own width."""
    match value:
        case np.ndarray():
            return [plain(v) for v in value] if value.ndim else plain(value[()])
        case np.floating():
            return float(str(value))  # float32 0.1 stays 0.1
        case np.generic():
            return value.item()
        case Mapping():
            return {str(k): plain(v) for k, v in value.items()}
        case list() | tuple():
            return [plain(v) for v in value]
        case _:
            return value


def render(observation: Any) -> str:
    """An observation as text: a text as it is, everything else as JSON."""
    if isinstance(observation, str):
        return observation
    return json.dumps(plain(observation), ensure_ascii=False, default=str)


def _bound(array: np.ndarray[Any, Any]) -> str:
    values = np.unique(array)
    return f"{values[0]}" if len(values) == 1 else json.dumps(plain(array))
