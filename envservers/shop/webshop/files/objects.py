"""JSON files too large to hold: the elements of one array, one at a time."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

CHUNK = 1 << 20
"""Characters that are read at once."""
LARGEST = 1 << 24
"""Characters of one element at most."""


def objects(path: Path) -> Iterator[Any]:
    """The elements of the JSON array that the file holds; ValueError where it is none."""
    decoder = json.JSONDecoder()
    with path.open(encoding="utf-8") as file:
        rest = ""
        while not rest and (more := file.read(CHUNK)):
            rest = more.lstrip("\ufeff \t\r\n")
        if not rest.startswith("["):
            raise ValueError("not a JSON array")
        rest = rest[1:]
        while True:
            rest = rest.lstrip(" \t\r\n,")
            if rest.startswith("]"):
                return
            try:
                found, end = decoder.raw_decode(rest)
                if end == len(rest):  # a number may go on in the next chunk
                    raise ValueError("the array has no end")
            except ValueError:
                more = file.read(CHUNK)
                if not more or len(rest) > LARGEST:
                    raise
                rest += more
            else:
                yield found
                rest = rest[end:]
