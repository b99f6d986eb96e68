"""Which variations have a solution that was played, and by what trajectory; those without make no task.

    python -m envservers.science.sciworld.proof [--kind boil] [--split test] [--each 10]

plays solutions and adds a line for each to `proof.tsv`; those that are there are not played again. Where the
simulator's own solution fails, other ways are tried; one that succeeds goes to `solutions.jsonl`.
"""

from __future__ import annotations

import argparse
import functools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from agentenv.protocol import digest_of
from envservers.science.sciworld.other_ways import keep, other_ways

if TYPE_CHECKING:
    from envservers.science.sciworld.pool import Pool

PROOF = Path(__file__).with_name("proof.tsv")
FULL = 100
"""The score of success."""
HEAD = ("task", "variation", "steps", "score", "digest")


@dataclass(frozen=True, slots=True)
class Played:
    """One solution, as it came out."""

    task: str
    variation: int
    steps: int
    """Up to the end, or all of the solution where it never ends."""
    score: int
    digest: str
    """The first 16 hexadecimal digits of sha256 over every action, answer and score, the first look included."""

    def line(self) -> str:
        """As it stands in the file."""
        return "\t".join(map(str, (self.task, self.variation, self.steps, self.score, self.digest)))


@functools.cache
def proof() -> dict[tuple[str, int], Played]:
    """Everything played so far."""
    rows = [line.split("\t") for line in PROOF.read_text(encoding="utf-8").splitlines()[1:]]
    return {(r[0], int(r[1])): Played(r[0], int(r[1]), int(r[2]), int(r[3]), r[4]) for r in rows}


def unsolved(task: str, variation: int) -> bool:
    """Whether the solution was played and fails."""
    played = proof().get((task, variation))
    return played is not None and played.score < FULL


def play(pool: Pool, task: str, variation: int, actions: Sequence[str]) -> Played:
    """Play a solution in a world of its own."""
    world = pool.load(task, variation, "")
    moves = [world.step("look around")]
    for action in actions:
        moves.append(world.step(action))
        if moves[-1].over or moves[-1].score < 0:
            break
    world.close()
    seen = [[action, move.text, move.score] for action, move in zip(("look around", *actions), moves, strict=False)]
    return Played(task, variation, len(moves) - 1, moves[-1].score, digest_of(seen)[:16])


def prove(pool: Pool, task: str, variation: int) -> Played:
    """Play the solution, and where it fails other ways until one succeeds, which is kept."""
    solution = pool.solution(task, variation, "")
    first = play(pool, task, variation, solution)
    if first.score == FULL:
        return first
    world = pool.load(task, variation, "")
    world.close()
    for way in other_ways(world.goal, solution):
        if (played := play(pool, task, variation, way)).score == FULL:
            keep(task, variation, way[: played.steps])
            return played
    return first


def wanted(kinds: Iterable[str], split: str | None, each: int | None) -> Iterator[tuple[str, int]]:
    """The variations to play, one of each kind, then the next of each; `each` of a kind, evenly spaced."""
    from envservers.science.sciworld.tasks import catalog

    kinds = set(kinds)
    lists = []
    for kind in catalog():
        if kinds and kind.name not in kinds:
            continue
        variations = list(kind.split(split) if split else range(kind.variations))
        if each is not None and each < len(variations):
            variations = [variations[round(n * (len(variations) - 1) / max(1, each - 1))] for n in range(each)]
        lists.append([(kind.name, variation) for variation in variations])
    for nth in range(max(map(len, lists), default=0)):
        yield from (listed[nth] for listed in lists if nth < len(listed))


def main() -> None:
    """Play what is wanted and not yet played; an interrupted run goes on where it was."""
    parser = argparse.ArgumentParser(description="Play the simulator's own solutions.")
    parser.add_argument("--kind", action="append", default=[], help="of these kinds alone")
    parser.add_argument("--split", choices=("train", "dev", "test"), help="of this split alone")
    parser.add_argument("--each", type=int, help="so many of each kind, evenly spaced")
    asked = parser.parse_args()
    from envservers.science.sciworld.pool import pool_of

    pool = pool_of(jvms=1, heap_mb=192)
    if not PROOF.exists():
        PROOF.write_text("\t".join(HEAD) + "\n", encoding="utf-8")
    for task, variation in wanted(asked.kind, asked.split, asked.each):
        if (task, variation) in proof():
            continue
        line = prove(pool, task, variation).line() + "\n"
        with PROOF.open("a", encoding="utf-8") as file:
            file.write(line)


if __name__ == "__main__":
    main()
