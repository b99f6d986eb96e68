"""What must be equal for two runs to be compared, and what is not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

WORLD = ("env", "version", "tasks_digest", "split", "options", "max_steps")
"""Of an env; the engine is one of its options, and its version covers the scorer."""


class RunLike(Protocol):
    """What is asked of a run."""

    suite: str
    suite_hash: str
    suite_data: dict[str, Any]
    worlds: list[Any]


def differences(a: RunLike, b: RunLike) -> list[str]:
    """In words, each thing by which the two measured something else; empty where they compare."""
    found = []
    if a.suite_hash != b.suite_hash:
        found.append(f"suite {a.suite} ({a.suite_hash[:8]}) and {b.suite} ({b.suite_hash[:8]})")
    if metric_of(a) != metric_of(b):
        found.append(f"metric {metric_of(a)} and {metric_of(b)}")
    theirs = {world["label"]: world for world in b.worlds}
    for world in a.worlds:
        other = theirs.pop(world["label"], None)
        found += [f"{world['label']}: only A played it"] if other is None else _in_world(world, other)
    return [*found, *(f"{label}: only B played it" for label in theirs)]


def metric_of(run: RunLike) -> str:
    """What the run's suite measures."""
    return str(run.suite_data.get("metric", "success"))


def _in_world(a: Mapping[str, Any], b: Mapping[str, Any]) -> list[str]:
    return [f"{a['label']} {name}: {_short(a[name])} and {_short(b[name])}" for name in WORLD if a[name] != b[name]]


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 24 else f"{text[:12]}..."
