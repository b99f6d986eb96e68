"""Draw the tasks and write `tasks.tsv`: `python -m envservers.sql.make_tasks [--split test]`.

A draft becomes a task when, in the visible and both hidden databases, its gold query has rows and values and differs
from one database to the next, and the hidden ones reject at least 80 % of at least five mutants; of all mutants of a
split they must reject at least 95 %. A line for each split says what was dropped and how many mutants were rejected.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path

from envservers.sql.ask.draw import Draft, draw, templates
from envservers.sql.ask.mutants import mutants
from envservers.sql.compare import same
from envservers.sql.databases import databases, reader
from envservers.sql.guard import MAX_ROWS, Refused, Row
from envservers.sql.tasks import COUNTS, TABLE, Entry
from envservers.sql.worlds.schema import SPLIT_SCHEMAS, schema

LEAST_MUTANTS = 5
LEAST_REJECTED = 0.8
WANTED_REJECTED = 0.95
MOST_ROWS = 120
"""Of a gold result."""
LEVELS = (1, 2, 3, 4)
MOST_SCALARS = 0.3
"""Share of tasks whose gold result is a single value."""
TRIES = 60
"""Drafts of a template and schema in a row that may fail before the pair is given up for a level."""


@dataclass(slots=True)
class Tally:
    """What came of the drafts of a split."""

    dropped: Counter[str] = field(default_factory=Counter)
    mutants: int = 0
    rejected: int = 0
    scalars: int = 0


def main() -> None:
    """Write the table, all splits or the one asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--split", choices=tuple(COUNTS))
    wanted = parser.parse_args().split
    path = Path(str(files("envservers.sql").joinpath(TABLE)))
    old = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    lines = {split: [line for line in old if line.startswith(f"{split} ")] for split in COUNTS}
    for split in reversed(list(COUNTS)):
        if wanted in (None, split):
            lines[split] = [f"{split} {entry}" for entry in chosen(split)]
            path.write_text("".join(f"{line}\n" for some in lines.values() for line in some), encoding="utf-8")


def chosen(split: str) -> list[Entry]:
    """The tasks of a split, levels taking turns, and within a level templates and schemas."""
    tally = Tally()
    found: list[Entry] = []
    seen: set[str] = set()
    pairs = {level: _pairs(split) for level in LEVELS}
    held = split == "test_ood"
    streams = {(t, n): _Stream(t, n, held=held) for t in templates() for n in SPLIT_SCHEMAS[split]}
    given_up: set[tuple[int, str, str]] = set()
    for level in itertools.cycle(LEVELS):
        if len(found) == COUNTS[split]:
            break
        for template, name in itertools.islice(pairs[level], 5_000):
            if (level, template, name) in given_up:
                continue
            entry = _next(level, streams[template, name], seen, tally, len(found))
            if entry is not None:
                found.append(entry)
                break
            given_up.add((level, template, name))
        else:
            raise RuntimeError(f"{split}: level {level} has no more questions after {len(found)}")
    rate = tally.rejected / tally.mutants
    print(split, len(found), dict(tally.dropped), f"{tally.mutants} mutants, {rate:.4f} rejected", file=sys.stderr)
    if rate < WANTED_REJECTED:
        raise RuntimeError(f"{split}: the hidden databases reject {rate:.1%} of the mutants")
    return found


def _pairs(split: str) -> Iterator[tuple[str, str]]:
    """Templates by weight, each time with the next schema; in test_ood every second one is a held template."""
    kinds = templates().values()
    plain = [t.name for t in kinds for _ in range(t.weight) if not t.held]
    held = [t.name for t in kinds for _ in range(t.weight) if t.held]
    turns = itertools.cycle([name for pair in zip(plain, itertools.cycle(held), strict=False) for name in pair])
    names = {t.name: itertools.cycle(SPLIT_SCHEMAS[split]) for t in kinds}
    for template in turns if split == "test_ood" else itertools.cycle(plain):
        yield template, next(names[template])


def _next(level: int, stream: _Stream, seen: set[str], tally: Tally, already: int) -> Entry | None:
    """The next draft of a template and schema that has the level and will do."""
    for _ in range(TRIES):
        number, draft = stream.next(level)
        if draft is None:
            return None
        if draft.sql in seen:
            continue
        if draft.scalar and tally.scalars > MOST_SCALARS * (already + 4):
            return None
        problem = why_not(stream.schema, draft, tally)
        if problem:
            tally.dropped[problem] += 1
            continue
        seen.add(draft.sql)
        tally.scalars += draft.scalar
        return Entry(stream.schema, stream.template, number)
    return None


class _Stream:
    """The drafts of a template and schema by number; those of another level than the one asked for wait their turn."""

    def __init__(self, template: str, name: str, *, held: bool) -> None:
        self.template, self.schema, self._held = template, name, held
        self._number = 0
        self._waiting: dict[int, deque[tuple[int, Draft]]] = {level: deque() for level in LEVELS}

    def next(self, level: int) -> tuple[int, Draft | None]:
        """The next draft of a level; None where it seems to have none."""
        for _ in range(TRIES):
            if self._waiting[level]:
                return self._waiting[level].popleft()
            draft = draw(self.schema, self.template, self._number, held=self._held)
            if draft is not None:
                self._waiting[draft.difficulty].append((self._number, draft))
            self._number += 1
        return 0, None


def why_not(name: str, draft: Draft, tally: Tally) -> str:
    """Why a draft will not do; empty if it will."""
    gold = [_rows(path, draft.sql) for path in databases(name)]
    if any(rows is None or not rows for rows in gold):
        return "no rows"
    results = [rows for rows in gold if rows is not None]
    if any(all(cell is None for row in rows for cell in row) for rows in results):
        return "no values"
    if max(map(len, results)) > MOST_ROWS:
        return "too many rows"
    if any(same(a, b, ordered=draft.ordered) for a, b in itertools.combinations(results, 2)):
        return "the same everywhere"
    tried = mutants(draft.query, schema(name))
    rejected = sum(_rejected(name, str(mutant), results, draft.ordered) for mutant in tried)
    if len(tried) < LEAST_MUTANTS:
        return "few mutants"
    if rejected < LEAST_REJECTED * len(tried):
        return "mutants survive"
    tally.mutants += len(tried)
    tally.rejected += rejected
    return ""


def _rejected(name: str, sql: str, gold: list[tuple[Row, ...]], ordered: bool) -> bool:
    for path, rows in list(zip(databases(name), gold, strict=True))[1:]:
        given = _rows(path, sql, most=len(rows))
        if given is None or not same(rows, given, ordered=ordered):
            return True
    return False


def _rows(path: Path, sql: str, most: int = MAX_ROWS) -> tuple[Row, ...] | None:
    """The rows, at most so many; None where the query fails or has more."""
    with reader(path) as lent:
        try:
            return lent.run(sql, most_rows=most).rows
        except Refused:
            return None


if __name__ == "__main__":
    main()
