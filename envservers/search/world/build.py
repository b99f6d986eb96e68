"""The encyclopedia on disk: passages, their index and the questions of every split, made once for a size."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from agentenv.config import home
from agentenv.keep import kept, sources_digest, stages
from envservers.search.passages import Passage, PassageFile
from envservers.search.retrieve.bm25 import TOKENS, Bm25, write_index
from envservers.search.tasks import COUNTS
from envservers.search.world.graph import VERSION, WORLDS, build_graph
from envservers.search.world.questions import Questions, Row
from envservers.search.world.text import write_all

SEED = 0
PASSAGES = "passages.jsonl"
INDEX = "index"
STAGES = ("facts", "passages", "index", *(f"questions of {split}" for split in WORLDS))
HITS = 3
"""Passages a search shows by default; every step of a question's solution is among them."""


def world_folder(size: str) -> Path:
    """The folder of the encyclopedia, made if it is not there yet."""
    folder = home() / "search" / f"world-{VERSION}-{SEED}-{size}"
    return kept(folder, _sources(), lambda work: _write(work, size))


def questions_file(folder: Path, split: str) -> Path:
    """The questions of a split, one JSON object a line."""
    return folder / f"questions-{split}.jsonl"


def line_starts(path: Path) -> list[int]:
    """Byte offset of each line, and the file's size last."""
    starts = [0]
    with path.open("rb") as file:
        for line in file:
            starts.append(starts[-1] + len(line))
    return starts


@cache
def _sources() -> str:
    """Of everything that makes the world: one kept from other sources is made anew."""
    return f"{TOKENS} {version('bm25s')} {sources_digest(__package__)}"


def _write(work: Path, size: str) -> None:
    with stages("search", STAGES) as stage:
        next(stage)
        graph = build_graph(SEED, size)
        next(stage)
        written = write_all(graph, SEED)
        order = list(range(len(graph)))
        random.Random(f"order {VERSION} {SEED} {size}").shuffle(order)  # an id says nothing of its passage
        passages = [Passage("", "")] * len(graph)
        for entity, place in zip(written, order, strict=True):
            passages[place] = Passage(entity.title, entity.text)
        _write_lines(work / PASSAGES, ({"title": p.title, "text": p.text} for p in passages))
        next(stage)
        write_index(passages, work / INDEX)
        retriever = Bm25(work / INDEX, passages, "")
        for split in WORLDS:
            next(stage)
            drawn = Questions(graph, written, order, split).draw(SEED, COUNTS[size][split], _Finds(retriever))
            _write_lines(questions_file(work, split), drawn)


class _Finds:
    """Words for a search that shows the passage of a step; None where what a reader knows by then does not do."""

    def __init__(self, retriever: Bm25) -> None:
        self._retriever = retriever
        self._known: dict[tuple[str, str], str | None] = {}

    def __call__(self, step: Row) -> str | None:
        key = (step["find"], step["evidence"])
        if key not in self._known:
            self._known[key] = self._search(step)
        return self._known[key]

    def _search(self, step: Row) -> str | None:
        told = step["evidence"].replace(step["read"], " ") if step["read"] else step["evidence"]
        about = " ".join(told.split())
        for query in (step["find"], f"{step['find']} {about}", about):
            if step["passage"] in {hit.id for hit in self._retriever.search([query], HITS)[0]}:
                return str(query)
        return None


def _write_lines(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for row in rows:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


def open_passages(path: Path) -> PassageFile:
    """The passages of a JSONL file."""
    return PassageFile(path, line_starts(path))
