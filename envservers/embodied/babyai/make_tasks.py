"""Writes `tasks.tsv`: `python -m envservers.embodied.babyai.make_tasks`, a quarter of an hour.

Every task of ours has been solved by the scripted solution in a world of this minigrid, and no puzzle comes twice in
the table, whatever its level, its split and its colors; the reference's numbering alone may repeat itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from envservers.embodied.babyai.canonical import canonical_digest
from envservers.embodied.babyai.generate import make_layout
from envservers.embodied.babyai.levels import LEVELS, REFERENCE
from envservers.embodied.babyai.possible import is_possible
from envservers.embodied.babyai.solution import solution
from envservers.embodied.babyai.tasks import REFERENCE_SPLIT, Row
from envservers.embodied.babyai.world import World

QUOTAS = {"test": 400, "dev": 400, "test_ood": 400, "train": 10_000}
"""Tasks of the splits, in the order in which they are drawn."""
USES = {"test": {"all"}, "dev": {"all"}, "test_ood": {"held_out"}, "train": {"all", "train"}}
"""Levels of each split, by what they are for."""
REFERENCE_SEEDS = 100
"""Of each of the reference's levels: ids 0 to 3,999."""
FIRST_SEED = 1_000
"""Smaller ones are the reference's."""
EXHAUSTED = 300
"""Draws of a level in a row that bring no new puzzle, after which it has none left."""
LONGEST = 100
"""Steps of a solution; a longer one is no task of ours."""


class Census:
    """What was drawn, kept and thrown away, by level."""

    def __init__(self) -> None:
        self.seen: set[str] = set()
        self.counts: Counter[tuple[str, str]] = Counter()

    def reference(self) -> dict[str, list[Row]]:
        """The reference's tasks, solved or not."""
        rows = {level.name: [make_row(level.name, seed) for seed in range(REFERENCE_SEEDS)] for level in REFERENCE}
        self.seen.update(row.digest for level in rows.values() for row in level)
        return rows

    def draw(self, level: str) -> Iterator[Row]:
        """New and solved puzzles of a level."""
        seed, in_vain = FIRST_SEED, 0
        while in_vain < EXHAUSTED:
            row = make_row(level, seed)
            seed, in_vain = seed + 1, in_vain + 1
            reason = self._judge(row)
            self.counts[level, reason] += 1
            if reason == "kept":
                in_vain = 0
                yield row

    def _judge(self, row: Row) -> str:
        if row.digest in self.seen:
            return "seen"
        self.seen.add(row.digest)
        if row.steps == 0:
            return "unsolved" if is_possible(make_layout(row.level, row.seed)) else "impossible"
        return "long" if row.steps > LONGEST else "kept"


def make_row(level: str, seed: int) -> Row:
    """The row of a level and a seed, solved or not."""
    layout = make_layout(level, seed)
    actions = solution(level, seed, World(layout))
    return Row(level, seed, len(actions or ()), canonical_digest(layout))


def make_table(quotas: Mapping[str, int] = QUOTAS) -> tuple[dict[str, dict[str, list[Row]]], Census]:
    """The rows by split and level; levels take turns, those that have no puzzle left fall out."""
    census = Census()
    reference = census.reference()
    sources = {level.name: census.draw(level.name) for level in LEVELS.values() if level.use != "dropped"}
    made: dict[str, dict[str, list[Row]]] = {}
    for split, quota in quotas.items():
        levels = [name for name in sources if LEVELS[name].use in USES[split]]
        made[split] = _fill({level: sources[level] for level in levels}, quota)
    order = [split for split in ("train", "dev", "test", "test_ood") if split in made]
    return {**{split: made[split] for split in order}, REFERENCE_SPLIT: reference}, census


def _fill(sources: dict[str, Iterator[Row]], quota: int) -> dict[str, list[Row]]:
    rows: dict[str, list[Row]] = {level: [] for level in sources}
    missing = quota
    while missing:
        if not sources:
            raise ValueError(f"the levels have {missing} puzzles too few for {quota} tasks")
        for level in list(sources)[:missing]:
            row = next(sources[level], None)
            if row is None:
                del sources[level]
            else:
                rows[level].append(row)
                missing -= 1
    return {level: some for level, some in rows.items() if some}


def to_text(made: Mapping[str, Mapping[str, Sequence[Row]]]) -> str:
    """The table's file."""
    lines = [
        " ".join((split, level, *map(str, rows))) for split, levels in made.items() for level, rows in levels.items()
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Write the table and tell what was left out."""
    made, census = make_table()
    Path(__file__).with_name("tasks.tsv").write_text(to_text(made), encoding="utf-8")
    for (level, reason), count in sorted(census.counts.items()):
        if reason != "kept":
            print(f"{level}: {count} {reason}, {census.counts[level, 'kept']} kept")


if __name__ == "__main__":
    main()
