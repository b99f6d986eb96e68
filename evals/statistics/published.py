"""Scores that others have published, and what may be done with them beside ours.

A file is a YAML list:

    - {agent: SomeAgent, env: maze, world: agentenv-maze-v1, score: 0.42, metric: success, version: "1", split: test,
       tasks_digest: 3f..., max_steps: 40, source: "https://...", date: 2026-01-31}

`world` is the name of the world that was played in; empty for the original benchmark's own engine.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from enum import StrEnum
from pathlib import Path
from typing import Any

from agentenv.errors import BadCall


class Comparability(StrEnum):
    """How a published score stands to ours."""

    EXACT = "exact"
    """Same engine and version, tasks, limits and metric: it may stand in the table, marked as not run here."""
    SAME_ENGINE = "same_engine"
    """The same engine otherwise used: a footnote."""
    DIFFERENT_WORLD = "different_world"
    """Another world under a like name: never beside ours."""


class BadPublished(BadCall):
    """A file of published scores with a mistake; the message names file, entry and key."""

    code = "bad_published"


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """One score as it was published. What the source does not tell is None, and equals nothing."""

    agent: str
    env: str
    score: float
    source: str
    date: str
    metric: str = "success"
    world: str = ""
    version: str | None = None
    split: str | None = None
    tasks_digest: str | None = None
    max_steps: int | None = None
    options: Mapping[str, Any] = field(default_factory=dict)


EQUAL = ("version", "split", "tasks_digest", "max_steps", "options")
"""What must agree with our world for an exact comparison."""


def comparability(published: Published, world: Mapping[str, Any], metric: str) -> tuple[Comparability, list[str]]:
    """How the score stands to results in `world` (as runs store it), and what differs."""
    if published.env != world["env"] or published.world != (world["world"] or ""):
        return Comparability.DIFFERENT_WORLD, ["world"]
    differs = [name for name in EQUAL if getattr(published, name) != world[name]]
    differs += [] if published.metric == metric else ["metric"]
    return (Comparability.SAME_ENGINE if differs else Comparability.EXACT), differs


def read_published(file: Path) -> list[Published]:
    """The scores of a YAML file; BadPublished names what is wrong."""
    import msgspec

    try:
        data = msgspec.yaml.decode(file.read_bytes())
    except (OSError, msgspec.DecodeError) as exc:
        raise BadPublished(f"published scores {file}: {exc}") from exc
    if not isinstance(data, list):
        raise BadPublished(f"{file.name}: must be a list of scores, not {type(data).__name__}")
    return [_entry(item, f"{file.name}[{number}]") for number, item in enumerate(data)]


TYPES: Mapping[str, tuple[type, ...]] = {"score": (int, float), "max_steps": (int,), "options": (dict,)}
"""Of the keys that are no texts."""


def _entry(item: Any, where: str) -> Published:
    if not isinstance(item, dict):
        raise BadPublished(f"{where}: must be a mapping, not {type(item).__name__}")
    known = {f.name: f for f in fields(Published)}
    for key in item:
        if key not in known:
            raise BadPublished(f"{where}.{key} is not a key; there are: {', '.join(known)}")
    for name, f in known.items():
        if name not in item and f.default is MISSING and f.default_factory is MISSING:
            raise BadPublished(f"{where}: {name} is missing")
    values: dict[str, Any] = {name: str(value) if name == "date" else value for name, value in item.items()}
    for name, value in values.items():
        if type(value) not in TYPES.get(name, (str,)):
            wanted = " or ".join(t.__name__ for t in TYPES.get(name, (str,)))
            raise BadPublished(f"{where}.{name}={value!r}: must be {wanted}")
    return Published(**values)


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """A published score that may be shown with one env of a table."""

    published: Published
    comparability: Comparability
    differs: list[str]
    env: str
    """The suite's name for it."""

    def to_json(self) -> dict[str, Any]:
        """One flat object; its keys are stable."""
        p = self.published
        return {
            "published": True, "agent": p.agent, "env": self.env, "score": p.score, "metric": p.metric,
            "comparability": self.comparability.value, "differs": self.differs, "source": p.source, "date": p.date,
        }  # fmt: skip


def standings(published: Iterable[Published], worlds: Iterable[Mapping[str, Any]], metric: str) -> list[Standing]:
    """The scores that may be shown with these worlds; those of another world are left out."""
    found = []
    for world in worlds:
        for score in published:
            kind, differs = comparability(score, world, metric)
            if kind is not Comparability.DIFFERENT_WORLD:
                found.append(Standing(published=score, comparability=kind, differs=differs, env=world["label"]))
    return found
