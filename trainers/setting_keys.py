"""The dotted keys of settings: which there are, and what somebody meant who wrote another one."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from typing import Any, get_args, get_type_hints

ALIKE = 0.65
"""How much the last segment of a key must resemble that of a known one."""


def keys_of(cls: type[Any], prefix: str = "") -> dict[str, Any]:
    """Every dotted key below `cls` with its type; of lists, the keys of their items under `name[]`."""
    return {key: kind for key, kind, _ in _walk(cls, prefix)}


def unknown_keys(cls: type[Any], given: Any, prefix: str = "") -> Iterator[tuple[str, str]]:
    """Each key in nested mappings that `cls` does not have, with why it is refused.

    Of an unknown section its leaves are told, for the key of another trainer is a leaf.
    """
    known = keys_of(cls)
    if not isinstance(given, Mapping):
        yield prefix.rstrip("."), f"must be a mapping of settings, not {type(given).__name__}"
        return
    for name, value in given.items():
        key = f"{prefix}{name}"
        if not is_known(key, known):
            yield from ((leaf, "") for leaf in _leaves(value, key))
            continue
        kind = known.get(general(key))
        if is_dataclass(kind):
            yield from unknown_keys(cls, value, f"{key}.")
        elif str(kind).startswith("list") and not isinstance(value, list):
            yield key, f"must be a list, such as [{value}], not {type(value).__name__}"
        elif is_section(kind):
            for number, item in enumerate(value):
                yield from unknown_keys(cls, item, f"{key}[{number}].")


def is_known(key: str, known: Mapping[str, Any]) -> bool:
    """Whether `key` is a setting, or lies in a free mapping (`dict`), which takes any name."""
    name = general(key)
    parents = (name.rsplit(".", n)[0] for n in range(1, name.count(".") + 1))
    return name in known or any("dict" in str(known.get(parent, "")) for parent in parents)


def suggestion(cls: type[Any], key: str) -> str:
    """` did you mean batch.group_size (int, 8)?`, or nothing: by the last segment first, then by the whole key."""
    name = general(key)
    known = {k: (kind, default) for k, kind, default in _walk(cls) if not is_section(kind)}

    def alike(other: str) -> tuple[float, float]:
        return _ratio(_last(name), _last(other)), _ratio(name, other)

    best = max(known, key=alike)
    if alike(best)[0] < ALIKE:
        return ""
    kind, default = known[best]
    shown = "" if default in (MISSING, "???") else f", {'none' if default is None else default}"
    return f" did you mean {best} ({type_name(kind)}{shown})?"


def general(key: str) -> str:
    """`environments[0].env` and `environments.0.env` as `environments[].env`."""
    parts: list[str] = []
    for part in key.split("."):
        name, _, index = part.partition("[")
        if part.isdigit() and parts:
            parts[-1] += "[]"
        else:
            parts.append(name + ("[]" if index else ""))
    return ".".join(parts)


def is_section(kind: Any) -> bool:
    """Whether a type of `keys_of` is a dataclass of settings, or a list of them."""
    return any(is_dataclass(a) for a in (kind, *get_args(kind)))


def type_name(kind: Any) -> str:
    """`int`, `str or none`, `list of str`."""
    arguments = get_args(kind)
    if not arguments:
        return getattr(kind, "__name__", str(kind))
    if type(None) in arguments:
        return " or ".join(type_name(a) for a in arguments if a is not type(None)) + " or none"
    if str(kind).startswith("list"):
        return f"list of {type_name(arguments[0])}"
    return "mapping"


def _walk(cls: type[Any], prefix: str = "", instance: Any = None) -> Iterator[tuple[str, Any, Any]]:
    """Key, type and default; `instance` has the defaults where the section's differ from its class's."""
    hints = get_type_hints(cls)
    for f in fields(cls):
        kind = hints[f.name]
        default = _default(f) if instance is None else object.__getattribute__(instance, f.name)
        yield f"{prefix}{f.name}", kind, default
        inner = next((a for a in (kind, *get_args(kind)) if is_dataclass(a)), None)
        if inner is not None:
            listed = "" if kind is inner else "[]"
            yield from _walk(inner, f"{prefix}{f.name}{listed}.", None if listed else default)  # type: ignore[arg-type]


def _leaves(value: Any, key: str) -> Iterator[str]:
    if isinstance(value, Mapping) and value:
        for name, inner in value.items():
            yield from _leaves(inner, f"{key}.{name}")
    else:
        yield key


def _default(f: Field[Any]) -> Any:
    return f.default_factory() if f.default_factory is not MISSING else f.default


def _last(key: str) -> str:
    return key.rpartition(".")[2]


def _ratio(a: str, b: str) -> float:
    return difflib.SequenceMatcher(None, a, b).ratio()
