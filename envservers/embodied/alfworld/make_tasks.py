"""Draw the tasks and write the table: `python -m envservers.embodied.alfworld.make_tasks`. Equal code, equal table."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path

from envservers.embodied.alfworld.catalogue import Template, chores, is_unseen, room_types, templates
from envservers.embodied.alfworld.generate import canonical_digest, has_room_for, make_house
from envservers.embodied.alfworld.house import satisfied
from envservers.embodied.alfworld.solution import solution
from envservers.embodied.alfworld.spec import MAX_STEPS
from envservers.embodied.alfworld.tasks import Row
from envservers.embodied.alfworld.words import PUT

COUNTS = {"train": 5_000, "dev": 200, "test": 200, "test_unseen": 200, "test_ood": 400}
FIRST_SEED = {"train": 0, "dev": 100_000, "test": 200_000, "test_unseen": 300_000, "test_ood": 400_000}
UNSEEN = frozenset({"test_unseen", "test_ood"})
"""Splits whose rooms are seen nowhere else."""


def main() -> None:
    """Write `tasks.tsv`, a line for each split and template."""
    lines: dict[tuple[str, Template], list[str]] = {}
    taken: set[str] = set()
    for split, count in COUNTS.items():
        for row in draw(split, count, taken):
            entry = f"{row.room}:{row.seed}:{row.steps}:{row.digest}"
            lines.setdefault((split, row.template), []).append(entry)
    text = "".join(
        f"{split} {template.chore} {template.thing} {template.place} {' '.join(entries)}\n"
        for (split, template), entries in lines.items()
    )
    Path(__file__).with_name("tasks.tsv").write_text(text, encoding="utf-8")


def draw(split: str, count: int, taken: set[str]) -> Iterator[Row]:
    """The rows of a split; chores take turns, and within a chore its templates. `taken`: digests of all rows so far."""
    rng = random.Random(f"alfworld split:{split}")
    turns = {chore: cycle(_shuffled(_templates(chore, split), rng)) for chore in chores()}
    seed = FIRST_SEED[split]
    for _, chore in zip(range(count), cycle(chores()), strict=False):
        row = None
        while row is None:
            template, rooms = next(turns[chore])
            row = make_row(template, rng.choice(rooms), seed)
            seed += 1
            if row is not None and row.digest in taken:
                row = None
        taken.add(row.digest)
        yield row


def make_row(template: Template, room: int, seed: int) -> Row | None:
    """The task of these numbers; None when it is done already or its solution does not succeed within the limit."""
    house = make_house(template, room, seed)
    steps = 0 if satisfied(house, house.start) else len(solution(house, house.start, put=PUT["put"]))
    if not 0 < steps <= MAX_STEPS:
        return None
    return Row(template=template, room=room, seed=seed, steps=steps, digest=canonical_digest(house))


def _templates(chore: str, split: str) -> Iterator[tuple[Template, list[int]]]:
    """The chore's templates for a split, each once, with the rooms that have what it needs."""
    rooms: dict[Template, list[int]] = {}
    for name in chores()[chore].rooms:
        type_ = room_types()[name]
        for template in templates(chore, name):
            if template.held_out != (split == "test_ood"):
                continue
            fit = [
                room
                for room in range(type_.first, type_.last + 1)
                if is_unseen(room) == (split in UNSEEN) and has_room_for(template, room)
            ]
            rooms.setdefault(template, []).extend(fit)
    return ((template, fit) for template, fit in rooms.items() if fit)


def _shuffled(found: Iterator[tuple[Template, list[int]]], rng: random.Random) -> list[tuple[Template, list[int]]]:
    listed = list(found)
    rng.shuffle(listed)
    return listed


if __name__ == "__main__":
    main()
