"""Which questions there are: kinds, their share of a split, and the paths of relations that they follow."""

from __future__ import annotations

import functools
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from envservers.search.world.language import YEAR, Relation, relations

OOD_SHARE = 0.25
"""Of each kind's templates: kept for test_ood."""
KEPT: Mapping[str, int] = {"hop2": 40, "hop3": 40, "hop4": 32, "via": 20, "missing2": 24}
"""Templates of a kind where there are more paths than that."""
SHARES: Mapping[str, int] = {
    "single": 30,
    "hop2": 22,
    "hop3": 16,
    "hop4": 11,
    "earlier": 4,
    "via": 4,
    "same": 4,
    "missing1": 5,
    "missing2": 4,
}
"""Per cent of a split."""
CATEGORY: Mapping[str, str] = {
    "single": "single-hop",
    "hop2": "multi-hop",
    "hop3": "multi-hop",
    "hop4": "multi-hop",
    "earlier": "comparison",
    "via": "comparison",
    "same": "comparison",
    "missing1": "unanswerable",
    "missing2": "unanswerable",
}
DIFFICULTY: Mapping[str, int] = {
    "single": 1,
    "missing1": 1,
    "hop2": 2,
    "missing2": 2,
    "earlier": 2,
    "same": 2,
    "hop3": 3,
    "via": 3,
    "hop4": 4,
}
"""By the number of passages that a solution reads."""


Path = tuple[str, ...]
"""Names of relations."""


@dataclass(frozen=True, slots=True)
class Template:
    """A kind of question along a path of relations, first the one that leaves the subject."""

    kind: str
    path: Path

    @property
    def name(self) -> str:
        """As `Task.template`."""
        return f"{self.kind}:{'.'.join(self.path)}"

    @property
    def domain(self) -> str:
        """Kind of the entities that it starts at."""
        return relations()[self.path[0]].domain


@functools.cache
def templates(*, ood: bool) -> Mapping[str, Sequence[Template]]:
    """By kind: those of every split, or those of test_ood alone."""
    found: dict[str, Sequence[Template]] = {}
    for kind, paths in _paths().items():
        rng = random.Random(f"templates of {kind}")
        order = [Template(kind, path) for path in rng.sample(paths, min(len(paths), KEPT.get(kind, len(paths))))]
        held = round(len(order) * OOD_SHARE)
        found[kind] = order[:held] if ood else order[held:]
    return found


def _paths() -> dict[str, list[Path]]:
    all = list(relations().values())
    leads = [r for r in all if r.nouns]
    single: list[Path] = [(r.name,) for r in all]
    chains: dict[int, list[Path]] = {1: single}
    for hops in (2, 3, 4):
        chains[hops] = [(r.name, *rest) for r in leads for rest in chains[hops - 1] if _follows(r, rest)]
    years = [r for r in all if r.range == YEAR]
    found: dict[str, list[Path]] = {
        "single": single,
        "hop2": chains[2],
        "hop3": chains[3],
        "hop4": chains[4],
        "earlier": [(r.name,) for r in years],
        "via": [path for path in chains[2] if path[1] in {r.name for r in years}],
        "same": [(r.name,) for r in all if r.label],
        "missing1": single,
        "missing2": chains[2],
    }
    return found


def _follows(relation: Relation, rest: Path) -> bool:
    there = relations()[rest[0]].domain == relation.range
    return there and relation.name not in rest and relation.back != rest[0]
