"""The simulator's tasks: thirty kinds with ten to 1,386 variations each, in its own splits or under AgentGym's ids."""

from __future__ import annotations

import functools
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentenv.protocol import UNPROVEN, Task, digest_of
from agentenv.registry import MadeTasks, TaskSet
from envservers.science.sciworld.needs import JAR_SHA256, SIMULATOR, check_needs, find_java
from envservers.science.sciworld.proof import proof, unsolved

VERSION = "1"
CATALOG = Path(__file__).with_name("catalog.tsv")
NOT_IN_AGENTGYM = ("5-1", "5-2", "9-1", "9-2", "9-3", "10-1", "10-2")
"""Kinds that its server leaves out."""


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of task: a line of the catalog."""

    number: str
    """`2-1`, as in the paper."""
    name: str
    topic: str
    variations: int
    difficulty: int
    """1 to 5, by the mean length of the solutions in dev and test: up to 13 steps, 28, 35, 120, or more."""
    max_steps: int

    def split(self, name: str) -> range:
        """Its variations of `train`, `dev` or `test`, as the simulator divides them: two quarters, one, the rest."""
        quarter = self.variations // 4
        return {
            "train": range(2 * quarter),
            "dev": range(2 * quarter, 3 * quarter),
            "test": range(3 * quarter, self.variations),
        }[name]


@functools.cache
def catalog() -> tuple[Kind, ...]:
    """Every kind, in the order of the paper."""
    rows = [line.split("\t") for line in CATALOG.read_text(encoding="utf-8").splitlines()[1:]]
    return tuple(Kind(r[0], r[1], r[2], int(r[3]), int(r[4]), int(r[5])) for r in rows)


Place = tuple[Kind, int]


def own(split: str) -> list[Place]:
    """A split of the simulator without what its own solution fails; one task of each kind, then the next of each."""
    places = [
        (nth, kind, variation)
        for kind in catalog()
        for nth, variation in enumerate(v for v in kind.split(split) if not unsolved(kind.name, v))
    ]
    return [(kind, variation) for _, kind, variation in sorted(places, key=lambda place: place[0])]


def agentgym() -> list[Place]:
    """AgentGym's numbering: all variations of one kind, then of the next."""
    kinds = [kind for kind in catalog() if kind.number not in NOT_IN_AGENTGYM]
    return [(kind, variation) for kind in kinds for variation in range(kind.variations)]


def _task_set(splits: Mapping[str, list[Place]], options: Mapping[str, Any]) -> TaskSet:
    """The digest is over every place and the simulator."""
    places = {split: [(kind.name, v) for kind, v in table] for split, table in splits.items()}
    limits = [(kind.name, kind.difficulty, kind.max_steps) for kind in catalog()]
    return MadeTasks(
        counts={split: len(table) for split, table in splits.items()},
        digest=digest_of([VERSION, JAR_SHA256, dict(options), limits, places]),
        make=lambda split, index: _task(split, index, *splits[split][index]),
    )


def _task(split: str, index: int, kind: Kind, variation: int) -> Task:
    return Task(
        id=f"sciworld/{split}/{index}",
        env="sciworld",
        split=split,
        index=index,
        category=UNPROVEN if unsolved(kind.name, variation) else kind.name,
        difficulty=kind.difficulty,
        template=kind.number,
        seed=variation,  # the simulator's own use of it
        payload={"task": kind.name, "variation": variation},
        max_steps=kind.max_steps,
    )


def make_tasks(options: Mapping[str, Any]) -> TaskSet:
    """The tasks under the option `numbering`; EnvUnavailable where Java or the simulator is missing."""
    check_needs()
    shown = {name: options[name] for name in ("numbering", "simplifications")}  # the machines change no task
    if options["numbering"] == "agentgym":
        return _task_set({"agentgym": agentgym()}, shown)
    return _task_set({split: own(split) for split in ("train", "dev", "test")}, shown)


def facts(options: Mapping[str, Any]) -> dict[str, Any]:
    """What the bytes of an episode depend on, for the card."""
    from envservers.science.sciworld.launch import FLAGS

    return {
        "simulator": f"scienceworld {SIMULATOR}",
        "simulator_sha256": JAR_SHA256,
        "java": java_version(),
        "java_flags": " ".join(FLAGS),
        "simplifications": options["simplifications"],
        "solutions_played": len(proof()),
        "left_out": ", ".join(f"{p.task} {p.variation}" for p in proof().values() if unsolved(p.task, p.variation)),
    }


def java_version() -> str:
    """Such as 17.0.15."""
    java = find_java()
    assert java is not None
    said = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=30, check=False).stderr
    found = re.search(r'version "([^"]+)"', said)
    return found[1] if found else said.strip()
