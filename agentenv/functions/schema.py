"""The part of JSON Schema that arguments of functions are described in, and the check of a value against it.

A closed table on purpose: cards come from servers of others too, so nothing is ever fetched (`$ref`), and a keyword
that would silently mean nothing is refused where the environment is registered.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

ANNOTATIONS = frozenset({"title", "description", "default", "examples", "format", "deprecated"})
"""Keywords that say something to a reader and refuse nothing."""
CHECKS = frozenset(
    {
        "type", "enum", "const", "anyOf", "pattern", "minLength", "maxLength", "minimum", "maximum",
        "items", "minItems", "maxItems", "properties", "required", "additionalProperties",
    }
)  # fmt: skip
MAX_QUOTED = 60
"""Characters of a value that a reason quotes."""
MAX_MATCHED = 2_000
"""Characters that a pattern is tried on; a longer text does not match."""

TYPES: Mapping[str, Callable[[Any], bool]] = {
    "string": lambda v: isinstance(v, str),
    "integer": lambda v: type(v) is int or (type(v) is float and v.is_integer()),
    "number": lambda v: type(v) is int or (type(v) is float and math.isfinite(v)),
    "boolean": lambda v: isinstance(v, bool),
    "null": lambda v: v is None,
    "array": lambda v: isinstance(v, list),
    "object": lambda v: isinstance(v, dict),
}
WORDS: Mapping[str, str] = {
    "string": "a text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "null": "null",
    "array": "a list",
    "object": "an object",
}


def schema_fault(schema: Any, where: str = "") -> str | None:
    """What in a schema is not understood here; None when all of it is."""
    if not isinstance(schema, Mapping):
        return f"{where or 'the schema'} is no object"
    unknown = sorted(set(schema) - ANNOTATIONS - CHECKS)
    if unknown:
        return f"{where or 'the schema'} has {', '.join(unknown)}, which is not checked here"
    unnamed = [t for t in types_of(schema) if t not in TYPES]
    if unnamed:
        return f"{where or 'the schema'} has the type {unnamed[0]!r}"
    if "pattern" in schema:
        try:
            re.compile(schema["pattern"])
        except (re.error, TypeError) as exc:
            return f"{where or 'the schema'} has a pattern that cannot be read: {exc}"
    return next(filter(None, (schema_fault(part, name) for name, part in _parts(schema, where))), None)


def types_of(schema: Mapping[str, Any]) -> Sequence[str]:
    """The types that a schema names; none when it leaves them open."""
    named = schema.get("type", [])
    return [named] if isinstance(named, str) else list(named)


def _parts(schema: Mapping[str, Any], where: str) -> Iterator[tuple[str, Any]]:
    for name, part in schema.get("properties", {}).items():
        yield f"{where}.{name}" if where else name, part
    for index, part in enumerate(schema.get("anyOf", [])):
        yield f"{where} anyOf {index}", part
    for keyword in ("items", "additionalProperties"):
        if keyword in schema and not isinstance(schema[keyword], bool):
            yield f"{where} {keyword}", schema[keyword]


def value_fault(value: Any, schema: Mapping[str, Any], where: str = "") -> str | None:
    """Why a JSON value does not fit, in words for a model; None when it does."""
    name = f"`{where}`" if where else "the value"
    if (named := types_of(schema)) and not any(TYPES[t](value) for t in named):
        return f"{name} must be {' or '.join(WORDS[t] for t in named)}, not {quoted(value)}"
    if "anyOf" in schema:
        faults = [value_fault(value, part, where) for part in schema["anyOf"]]
        if all(faults):
            return (
                faults[0] if len(faults) == 1 else f"{name} fits none of its forms: {'; '.join(filter(None, faults))}"
            )
    if "const" in schema and not _same(value, schema["const"]):
        return f"{name} must be {quoted(schema['const'])}"
    if "enum" in schema and not any(_same(value, choice) for choice in schema["enum"]):
        return f"{name} must be one of {', '.join(map(quoted, schema['enum']))}, not {quoted(value)}"
    match value:
        case str():
            return _text_fault(value, schema, name)
        case bool():
            return None
        case int() | float():
            return _number_fault(value, schema, name)
        case list():
            return _list_fault(value, schema, name, where)
        case dict():
            return _object_fault(value, schema, where)
    return None


def quoted(value: Any) -> str:
    """A value as a reason shows it, cut to MAX_QUOTED characters."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= MAX_QUOTED else f"{text[:MAX_QUOTED]}..."


def _same(value: Any, other: Any) -> bool:
    """Equal and, unlike in Python, true is not 1."""
    return value == other and isinstance(value, bool) == isinstance(other, bool)


def _text_fault(value: str, schema: Mapping[str, Any], name: str) -> str | None:
    if len(value) < schema.get("minLength", 0):
        return f"{name} must have at least {schema['minLength']} characters"
    if len(value) > schema.get("maxLength", len(value)):
        return f"{name} must have at most {schema['maxLength']} characters"
    pattern = schema.get("pattern")
    if pattern is not None and (len(value) > MAX_MATCHED or re.search(pattern, value) is None):
        return f"{name} must look like {pattern}, not {quoted(value)}"
    return None


def _number_fault(value: float, schema: Mapping[str, Any], name: str) -> str | None:
    if value < schema.get("minimum", value):
        return f"{name} must be at least {schema['minimum']}, not {quoted(value)}"
    if value > schema.get("maximum", value):
        return f"{name} must be at most {schema['maximum']}, not {quoted(value)}"
    return None


def _list_fault(value: list[Any], schema: Mapping[str, Any], name: str, where: str) -> str | None:
    if len(value) < schema.get("minItems", 0):
        return f"{name} must have at least {schema['minItems']} items"
    if len(value) > schema.get("maxItems", len(value)):
        return f"{name} must have at most {schema['maxItems']} items"
    if not isinstance(schema.get("items"), Mapping):
        return None
    faults = (value_fault(item, schema["items"], f"{where}[{index}]") for index, item in enumerate(value))
    return next(filter(None, faults), None)


def _object_fault(value: dict[str, Any], schema: Mapping[str, Any], where: str) -> str | None:
    properties: Mapping[str, Any] = schema.get("properties", {})
    inside = f" in `{where}`" if where else ""
    missing = [name for name in schema.get("required", []) if name not in value]
    if missing:
        return f"`{missing[0]}` is missing{inside}"
    others = schema.get("additionalProperties", True)
    for name, item in value.items():
        if name not in properties and others is False:
            known = f"there are: {', '.join(properties)}" if properties else "there are none"
            return f"there is no argument {quoted(name)}{inside}; {known}"
        part = properties.get(name, others)
        fault = value_fault(item, part, f"{where}.{name}" if where else name) if isinstance(part, Mapping) else None
        if fault is not None:
            return fault
    return None
