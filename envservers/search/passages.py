"""What is searched: passages with a title, and how an observation shows them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

SHOWN = 4_000
"""Characters of one passage that an observation shows."""


@dataclass(frozen=True, slots=True)
class Passage:
    """One document of a corpus."""

    title: str
    text: str


class Passages(Protocol):
    """A corpus: a passage's place in it is its id."""

    def __len__(self) -> int:
        """How many there are."""

    def __getitem__(self, id: int) -> Passage:
        """The passage of an id."""


class PassageFile:
    """Passages of a JSONL file, read one by one by any thread: only the line starts stay in memory."""

    def __init__(self, path: Path, starts: Sequence[int]) -> None:
        """`starts`: byte offset of each line, and the file's size last."""
        import mmap

        self._starts = starts
        with path.open("rb") as file:
            self._bytes = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)

    def __len__(self) -> int:
        """How many there are."""
        return len(self._starts) - 1

    def __getitem__(self, id: int) -> Passage:
        """The passage of an id."""
        return passage_of(self._bytes[self._starts[id] : self._starts[id + 1]])


def passage_of(line: bytes | str) -> Passage:
    """A line of a corpus: `title` and `text`, or `contents` whose first line is the title in quotes.

    ValueError names what is wrong.
    """
    row = json.loads(line)
    if not isinstance(row, dict):
        raise ValueError("a passage must be an object")
    title, text = row.get("title", ""), row.get("text")
    if text is None and isinstance(contents := row.get("contents"), str):
        first, newline, rest = contents.partition("\n")
        title, text = (title or first.strip().strip('"'), rest) if newline else (title, contents)
    if not isinstance(text, str) or not isinstance(title, str):
        raise ValueError("a passage needs `text`, or `contents`, and `title` must be text")
    return Passage(title, text)


def information(passages: Sequence[Passage]) -> str:
    """What a search is answered with. Tags inside a passage are made harmless, so that none can end the block."""
    if not passages:
        return "<information>No passage matches.</information>"
    docs = [f'Doc {n}(Title: "{_plain(p.title)}") {_plain(p.text)}' for n, p in enumerate(passages, start=1)]
    return "<information>" + "\n".join(docs) + "</information>"


def _plain(text: str) -> str:
    cut = text if len(text) <= SHOWN else text[:SHOWN] + " [...]"
    return " ".join(cut.replace("<", "‹").replace(">", "›").split())
