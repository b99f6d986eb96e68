"""Where an env's passages come from and what ranks them; opened once in a process, for all its sessions."""

from __future__ import annotations

import functools
import hashlib
import threading
from importlib.metadata import version
from pathlib import Path

from agentenv.config import home
from agentenv.errors import UnknownOption
from agentenv.keep import file_digest, kept
from envservers.search.passages import PassageFile, passage_of
from envservers.search.retrieve.base import Retriever
from envservers.search.retrieve.bm25 import TOKENS, Bm25, write_index
from envservers.search.retrieve.combine import Combined
from envservers.search.retrieve.remote import Remote
from envservers.search.tasks import is_address
from envservers.search.world.build import INDEX, PASSAGES, open_passages, world_folder

BM25, DENSE = "bm25", "dense"
_opening = threading.Lock()


def retriever_of(*, size: str, corpus: str = "", retriever: str = BM25, dense_model: str = "") -> Retriever:
    """The retriever that the options name; searches of several threads at a time are gathered."""
    with _opening:  # threads that start together open it once
        return _retriever(size, corpus, retriever, dense_model, str(home()))


@functools.lru_cache(maxsize=4)
def _retriever(size: str, corpus: str, retriever: str, dense_model: str, at: str) -> Retriever:
    return Combined(_made(size, corpus, retriever, dense_model, Path(at)))


def _made(size: str, corpus: str, retriever: str, dense_model: str, at: Path) -> Retriever:
    if is_address(retriever):
        return Remote(retriever)
    if retriever == DENSE:
        return _dense(_corpus_passages(Path(corpus)) if corpus else _world_passages(size), dense_model, at)
    if retriever != BM25:
        raise UnknownOption(f"option retriever={retriever!r}: must be bm25, dense or an http address")
    return _of_corpus(Path(corpus), at) if corpus else _of_world(size)


def _of_world(size: str) -> Bm25:
    passages, digest = _world_passages(size)
    return Bm25(world_folder(size) / INDEX, passages, digest)


def _world_passages(size: str) -> tuple[PassageFile, str]:
    path = world_folder(size) / PASSAGES
    return open_passages(path), file_digest(path)


def _dense(corpus: tuple[PassageFile, str], model: str, at: Path) -> Retriever:
    from envservers.search.retrieve.dense import Dense, Encoder, model_folder, write_vectors

    passages, digest = corpus
    folder = model_folder(model)
    weights = hashlib.sha256("".join(file_digest(f) for f in sorted(folder.glob("*.safetensors"))).encode()).hexdigest()
    encoder = Encoder(folder)
    place = at / "search" / f"vectors-{digest[:16]}-{weights[:16]}"
    key = f"{digest} {weights}"
    return Dense(kept(place, key, lambda work: write_vectors(passages, encoder, work)), passages, encoder, key)


def _corpus_passages(path: Path) -> tuple[PassageFile, str]:
    try:
        return open_passages(path), file_digest(path)
    except (OSError, ValueError) as exc:  # an empty file cannot be mapped
        raise UnknownOption(f"option corpus={str(path)!r}: {exc}") from exc


def _of_corpus(path: Path, at: Path) -> Bm25:
    passages, digest = _corpus_passages(path)

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
