"""Choosing episodes and writing them, with the digests of their tasks."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agentenv.data.export.atif import atif
from agentenv.data.export.chats import openai, sharegpt
from agentenv.data.export.table import row, schema
from agentenv.data.parquet import write_rows
from agentenv.data.targets import local, new_folder, replaced
from agentenv.errors import BadCall
from agentenv.pictures import Pictures, beside, pictures_of
from agentenv.trained_on import FILE, as_text
from agentenv.trajectory import Trajectory

FORMATS = ("jsonl", "sharegpt", "openai", "atif", "parquet")
SIDECAR = f".{FILE}"
"""Behind the name of a file whose form has no room for the digests of its tasks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Which episodes are exported."""

    success: bool = False
    min_reward: float | None = None
    envs: Sequence[str] = ()

    def left_out_because(self, record: Trajectory) -> str:
        """Empty for an episode that is exported."""
        if not record.turns:
            return "without a turn"
        if not record.outcome.valid:
            return f"ended as {record.outcome.value}"
        if self.envs and record.env not in self.envs:
            return "of another environment"
        if self.success and not record.success:
            return "without success"
        if self.min_reward is not None and record.reward < self.min_reward:
            return "under the reward"
        return ""


@dataclass(kw_only=True)
class Exported:
    """What became of the episodes."""

    episodes: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    tasks: set[str] = field(default_factory=set)
    """Digests."""
    trained_on: str = ""
    """Where the digests are written; empty where the records hold them."""
    named: set[str] = field(default_factory=set)
    """Pictures that the records name, by sha256."""
    pictures: int = 0
    """How many of them lie beside the file now."""

    def chosen(self, records: Iterable[Trajectory], choice: Choice) -> Iterator[Trajectory]:
        """The records that are exported, each counted."""
        for record in records:
            if reason := choice.left_out_because(record):
                self.left_out[reason] += 1
                continue
            self.episodes += 1
            self.tasks.add(record.task.digest)
            self.named.update(pictures_of(record))
            yield record


def export_to(
    out: str,
    form: str,
    records: Iterable[Trajectory],
    choice: Choice,
    *,
    style: str | None = None,
    force: bool = False,
    pictures: Pictures | None = None,
) -> Exported:
    """Write the chosen records to `out`: a file, or for `atif` a folder unless the name ends in `.jsonl`.

    `pictures` are those of the records; our own records on this machine get theirs, every other form names none.
    BadCall where no episode is left, and nothing is written then.
    """
    if form not in FORMATS:
        raise BadCall(f"--format {form}: one of {', '.join(FORMATS)}")
    done = Exported()
    found = _some(done, done.chosen(records, choice))
    if form == "atif" and not out.endswith(".jsonl"):
        with new_folder(Path(out)) as folder:
            for number, record in enumerate(found):
                _write_json(folder / f"{number:06d}.json", atif(record, number, style))
            (folder / FILE).write_text(as_text(done.tasks), encoding="utf-8")
        done.trained_on = str(Path(out) / FILE)
        return done
    with replaced(out, force=force) as path:
        _write(path, form, found, style)
    place = local(out) if form == "jsonl" else None
    if place is not None and pictures is not None:
        own = Pictures(beside(place))
        done.pictures, _ = pictures.copy_to(own, sorted(done.named))
        own.keep_only(frozenset(done.named))  # no longer those of a file that was overwritten
    if form != "jsonl":
        done.trained_on = f"{out}{SIDECAR}"
        with replaced(done.trained_on, force=True) as path:
            path.write_text(as_text(done.tasks), encoding="utf-8")
    return done


def _write(path: Path, form: str, records: Iterator[Trajectory], style: str | None) -> None:
    if form == "parquet":
        write_rows(path, (row(record, style) for record in records), schema=schema)
        return
    line: Callable[[int, Trajectory], str] = {
        "jsonl": lambda number, record: record.to_json(),
        "sharegpt": lambda number, record: _json(sharegpt(record, style)),
        "openai": lambda number, record: _json(openai(record, style)),
        "atif": lambda number, record: _json(atif(record, number, style)),
    }[form]
    with path.open("w", encoding="utf-8") as file:
        file.writelines(line(number, record) + "\n" for number, record in enumerate(records))


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _write_json(path: Path, value: Any) -> None:
    path.write_text(_json(value) + "\n", encoding="utf-8")


def _some(done: Exported, records: Iterator[Trajectory]) -> Iterator[Trajectory]:
    """The records; BadCall where there is none, and says why."""
    first = next(records, None)
    if first is None:
        why = ", ".join(f"{count} {reason}" for reason, count in sorted(done.left_out.items())) or "there were none"
        raise BadCall(f"no episode is left to export: {why}")
    return itertools.chain([first], records)
