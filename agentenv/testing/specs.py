"""A spec as JSON values and back: for another process, and from what a server tells of an env."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentenv.registry import Concurrency, EnvSpec, Option

_TYPES = {t.__name__: t for t in (bool, int, float, str)}
_NOT_ON_THE_CARD = ("entry", "tasks", "prompt")


def spec_to_json(spec: EnvSpec) -> dict[str, Any]:
    """Every field of a spec."""
    return {**spec.card(), **{name: getattr(spec, name) for name in _NOT_ON_THE_CARD}}


def spec_from_json(card: Mapping[str, Any]) -> EnvSpec:
    """The spec of a card. Without `entry` and `tasks`, as a server sends it, it cannot make an env."""
    fields: dict[str, Any] = dict.fromkeys(_NOT_ON_THE_CARD, "")
    fields |= {name: _tuples(card[name]) for name in EnvSpec.__dataclass_fields__ if name in card}
    fields["concurrency"] = Concurrency(card["concurrency"])
    fields["options"] = tuple(_option(option) for option in card["options"])
    return EnvSpec(**fields)


def _option(card: Mapping[str, Any]) -> Option:
    return Option(**{**card, "type": _TYPES[card["type"]], "choices": tuple(card["choices"])})


def _tuples(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
