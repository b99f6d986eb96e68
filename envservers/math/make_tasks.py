"""Write `tasks.tsv`: which seeds of which template are the tasks of each split.

    python -m envservers.math.make_tasks

A problem (template and numbers, whoever it is about) gets into one split only, and once. Templates have equal shares of
a split; half of test_ood is templates that are seen nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from envservers.math.tasks import COUNTS, HELD_OUT
from envservers.math.world.generate import make_problem
from envservers.math.world.language import Template, templates

TABLE = Path(__file__).with_name("tasks.tsv")


def shares(total: int, parts: int) -> list[int]:
    """`total` in so many parts that differ by one at most, the larger ones first."""
    return [total // parts + (part < total % parts) for part in range(parts)]


def fresh(template: Template, seeds: Iterator[int], known: set[str], *, held_out: bool) -> Iterator[int]:
    """Seeds whose problem is not known yet; it is from then on."""
    for seed in seeds:
        problem = make_problem(template, seed, held_out=held_out).canonical(template.name)
        if problem not in known:
            known.add(problem)
            yield seed


def lines() -> Iterable[str]:
    """The table."""
    common = [t for t in templates().values() if not t.held_out]
    special = [t for t in templates().values() if t.held_out]
    seeds = {name: iter(range(1_000_000)) for name in templates()}
    known: set[str] = set()
    for split, count in COUNTS.items():
        held_out = split == HELD_OUT
        groups = [(special, count - count // 2), (common, count // 2)] if held_out else [(common, count)]
        for group, part in groups:
            for template, share in zip(group, shares(part, len(group)), strict=True):
                chosen = islice(fresh(template, seeds[template.name], known, held_out=held_out), share)
                yield f"{split} {template.name} {','.join(map(str, chosen))}"


if __name__ == "__main__":
    TABLE.write_text("".join(f"{line}\n" for line in lines()), encoding="utf-8")
