"""Where an env's passages come from: the encyclopedia, a corpus file, or a server; opened once in a process."""

from __future__ import annotations

import functools
import threading
from importlib.metadata import version
from pathlib import Path

from agentenv.config import home
from agentenv.errors import UnknownOption
from agentenv.keep import file_digest, kept
from envservers.search.passages import passage_of
from envservers.search.retrieve.base import Retriever
from envservers.search.retrieve.bm25 import TOKENS, Bm25, write_index
from envservers.search.retrieve.remote import Remote
from envservers.search.world.build import INDEX, PASSAGES, open_passages, world_folder

_opening = threading.Lock()


def retriever_of(*, size: str, corpus: str, url: str) -> Retriever:
    """The retriever that the options name."""
    with _opening:  # threads that start together open it once
        return _retriever(size, corpus, url, str(home()))


@functools.lru_cache(maxsize=4)
def _retriever(size: str, corpus: str, url: str, at: str) -> Retriever:
    if url:
        return Remote(url)
    return _of_corpus(Path(corpus), Path(at)) if corpus else _of_world(size)


def _of_world(size: str) -> Bm25:
    folder = world_folder(size)
    return Bm25(folder / INDEX, open_passages(folder / PASSAGES), file_digest(folder / PASSAGES))


def _of_corpus(path: Path, at: Path) -> Bm25:
    try:
        digest = file_digest(path)
        passages = open_passages(path)
    except (OSError, ValueError) as exc:  # an empty file cannot be mapped
        raise UnknownOption(f"option corpus={str(path)!r}: {exc}") from exc

    def write(work: Path) -> None:
        with path.open("rb") as file:
            rows = []
            for number, line in enumerate(file, start=1):
                try:
                    rows.append(passage_of(line))
                except ValueError as exc:
                    raise UnknownOption(f"option corpus={str(path)!r}: line {number}: {exc}") from exc
        write_index(rows, work / INDEX)

    folder = kept(at / "search" / f"index-{digest[:16]}", f"{digest} {TOKENS} {version('bm25s')}", write)
    return Bm25(folder / INDEX, passages, digest)
