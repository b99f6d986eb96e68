"""Gymnasium spaces for free text; gymnasium's own Text knows only a given character set."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.spaces import Space

SAMPLE_ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789 .,:;!?()[]{}<>'\"\n\täöüßéñçøπ→漢字🙂"


class FreeText(Space[str]):
    """Any text without lone surrogates, of any length."""

    def __init__(self, seed: int | np.random.Generator | None = None) -> None:
        super().__init__(shape=(), dtype=str, seed=seed)

    def sample(self, mask: Any | None = None, probability: Any | None = None) -> str:
        """A short random text."""
        length = int(self.np_random.integers(0, 64))
        letters = self.np_random.integers(0, len(SAMPLE_ALPHABET), size=length)
        return "".join(SAMPLE_ALPHABET[i] for i in letters)

    def contains(self, x: Any) -> bool:
        """Whether `x` is text that can be encoded."""
        if not isinstance(x, str):
            return False
        return x.isascii() or not any("\ud800" <= c <= "\udfff" for c in x)

    @property
    def is_np_flattenable(self) -> bool:
        """Text has no vector form."""
        return False

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FreeText)

    def __hash__(self) -> int:
        return hash(FreeText)

    def __repr__(self) -> str:
        return "FreeText()"


class PngImage(Space[bytes]):
    """The bytes of a PNG image; empty where a step shows none."""

    def __init__(self, seed: int | np.random.Generator | None = None) -> None:
        super().__init__(shape=(), dtype=bytes, seed=seed)

    def sample(self, mask: Any | None = None, probability: Any | None = None) -> bytes:
        """No image."""
        return b""

    def contains(self, x: Any) -> bool:
        """Whether `x` is empty or begins as a PNG does."""
        return isinstance(x, bytes) and (not x or x.startswith(b"\x89PNG\r\n\x1a\n"))

    @property
    def is_np_flattenable(self) -> bool:
        """An encoded image has no vector form."""
        return False

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PngImage)

    def __hash__(self) -> int:
        return hash(PngImage)

    def __repr__(self) -> str:
        return "PngImage()"
