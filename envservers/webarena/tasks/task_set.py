"""The splits as a task set. How many tasks there are is checked in, so that counting builds no world."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from agentenv.protocol import Task, digest_of
from envservers.webarena.tasks.catalog import by_name
from envservers.webarena.tasks.make import GENERATOR, draws, make_task
from envservers.webarena.tasks.splits import GENERATED, MINI, MINI_POOL, SMOKE, Split

SPLITS = ("train", "dev", "test", "test_ood", "mini", "smoke")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a task comes from."""

    split: Split
    world: int
    template: str
    number: int


def make_tasks(options: Mapping[str, Any]) -> WebTasks:
    """The tasks of worlds of the option `size`."""
    return WebTasks(options.get("size") or "medium")


class WebTasks:
    """Makes each task when it is asked for."""

    def __init__(self, size: str) -> None:
        self.size = size
        self._golden = golden()["sizes"][size]

    @property
    def digest(self) -> str:
        """Over the digests of all tasks of every world, as checked in."""
        return digest_of([GENERATOR, self.size, self._golden["digests"]])

    def splits(self) -> tuple[str, ...]:
        """Names of the splits."""
        return SPLITS

    def count(self, split: str) -> int:
        """Number of tasks in `split`."""
        return len(_places(self.size, split))

    def get(self, split: str, index: int) -> Task:
        """Task `index` of `split`; builds its world at the first use."""
        place = _places(self.size, split)[index]
        template = by_name()[place.template]
        params = _drawn(self.size, place.split, place.world, place.template)[place.number]
        return make_task(
            template, place.split, params, place.number, seed=place.world, size=self.size, id=(split, index)
        )


@functools.cache
def golden() -> dict[str, Any]:
    """What is checked in: the generator, and by size the counts of every split and world, and the tasks' digests."""
    text = (files("envservers.webarena.tasks") / "golden.json").read_text("utf-8")
    value: dict[str, Any] = json.loads(text)
    return value


@functools.cache
def _places(size: str, split: str) -> tuple[Place, ...]:
    if split == "smoke":
        return _chosen(size, 1, SMOKE)
    if split == "mini":
        return _chosen(size, 0, MINI)
    return _all(size, next(s for s in GENERATED if s.name == split))


def _chosen(size: str, number: int, count: int) -> tuple[Place, ...]:
    """Of the tasks with this number of their template, so many, evenly over the templates: no template twice."""
    places = [place for place in _all(size, MINI_POOL) if place.number == number]
    return tuple(places[n * len(places) // count] for n in range(count))


def _all(size: str, spec: Split) -> tuple[Place, ...]:
    counts = golden()["sizes"][size]["counts"][spec.name]
    return tuple(
        Place(spec, world, name, number)
        for world in spec.worlds
        for name, count in counts[str(world)].items()
        for number in range(count)
    )


@functools.lru_cache(maxsize=512)
def _drawn(size: str, split: Split, world: int, template: str) -> tuple[Mapping[str, Any], ...]:
    return tuple(draws(by_name()[template], split, world, size))


def measure(size: str) -> dict[str, Any]:
    """Counts and digests as they are now, to take the place of those checked in."""
    counts: dict[str, dict[str, dict[str, int]]] = {}
    digests: dict[str, str] = {}
    for split in GENERATED:
        for world in split.worlds:
            found, digest = measure_world(size, split, world)
            counts.setdefault(split.name, {})[str(world)] = found
            digests[f"{split.name}/{world}"] = digest
    return {"counts": counts, "digests": digests}


def measure_world(size: str, split: Split, world: int) -> tuple[dict[str, int], str]:
    """How many tasks each template gives of a world for a split, and the digest of them all."""
    counts: dict[str, int] = {}
    digests = []
    for name, template in by_name().items():
        if not split.has(template):
            continue
        drawn = _drawn(size, split, world, name)
        counts[name] = len(drawn)
        for number, params in enumerate(drawn):
            task = make_task(template, split, params, number, seed=world, size=size, id=(split.name, number))
            digests.append(task.digest)
    return counts, digest_of(digests)
