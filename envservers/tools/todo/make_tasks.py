"""Write the table of tasks: `python -m envservers.tools.todo.make_tasks`.

Templates take turns, those with long solutions twice as often. A key is taken if its world fits the template, nobody
asked for the same before, in this split or another, and the check refuses every mutant.
"""

from __future__ import annotations

import csv
import random
from collections.abc import Iterator, Sequence
from itertools import cycle, islice
from pathlib import Path

from agentenv.protocol import canonical_json
from envservers.tools.todo.cases import HELD_OUT_PHRASINGS, canonical, case, phrasings
from envservers.tools.todo.env import TodoEnv
from envservers.tools.todo.script import TEMPLATES, NoFit, Template
from envservers.tools.todo.tasks import Row

COUNTS = {"train": 300, "dev": 50, "test": 50, "test_ood": 50}
LONG = 5
"""Calls from which a template takes two turns."""
MOST = 1_000
"""Keys that are tried for a task."""


def rows() -> Iterator[Row]:
    """All rows; in test_ood every second task has a held-out template."""
    taken: set[str] = set()
    for split, count in COUNTS.items():
        for index, template in enumerate(islice(_turns(split), count)):
            yield _row(split, index, template, taken)


def _turns(split: str) -> Iterator[Template]:
    """Templates in the order in which they take turns; splits begin at different places."""
    usual = _order(split, [t for t in TEMPLATES.values() if not t.held_out])
    if split != "test_ood":
        return usual
    held_out = _order(split, [t for t in TEMPLATES.values() if t.held_out])
    return (t for pair in zip(held_out, usual, strict=False) for t in pair)


def _order(split: str, templates: Sequence[Template]) -> Iterator[Template]:
    often = [t for t in templates for _ in range(2 if _length(t) >= LONG else 1)]
    random.Random(f"todo/turns/{split}").shuffle(often)
    return cycle(often)


def _length(template: Template) -> int:
    """Calls of a typical solution, `finish` included."""
    for number in range(MOST):
        try:
            return len(case(_payload(template, f"typical/{number}", "main", 0)).calls) + 1
        except NoFit:
            continue
    raise RuntimeError(f"no world fits {template.name}")


def _payload(template: Template, key: str, pool: str, phrasing: int) -> dict[str, str | int]:
    return {"template": template.name, "key": key, "pool": pool, "phrasing": phrasing}


def _row(split: str, index: int, template: Template, taken: set[str]) -> Row:
    strange = split == "test_ood"
    pool, count = "held_out" if strange else "main", len(phrasings()[template.phrasings])
    usable = range(count)[-HELD_OUT_PHRASINGS:] if strange else range(count - HELD_OUT_PHRASINGS)
    phrasing = random.Random(f"todo/phrasing/{split}/{index}").choice(usable)
    env = TodoEnv()
    for number in range(MOST):
        payload = _payload(template, f"{split}/{index}/{number}", pool, phrasing)
        try:
            made = case(payload)
        except NoFit:
            continue
        name = canonical_json(canonical(payload))
        if name in taken or env.survivors(made):
            continue
        taken.add(name)
        return Row(
            split=split,
            template=template.name,
            category=TEMPLATES[template.phrasings].category,  # agents are told it: an impossible task has its twin's
            phrasing=phrasing,
            pool=pool,
            key=str(payload["key"]),
            steps=len(made.calls) + 1,
        )
    raise RuntimeError(f"no world fits task {split}/{index}, {template.name}")


def main() -> None:
    """Write tasks.tsv beside this file."""
    found = list(rows())
    names = list(Row.__dataclass_fields__)
    with Path(__file__).with_name("tasks.tsv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter="\t", lineterminator="\n")
        writer.writerow(names)
        writer.writerows([getattr(row, name) for name in names] for row in found)


if __name__ == "__main__":
    main()
