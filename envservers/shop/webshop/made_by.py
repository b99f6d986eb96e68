"""What a kept catalogue depends on beside its data."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from agentenv.keep import file_digest, sources_digest
from envservers.shop.webshop import matching, products, reward, store


@cache
def made_by(package: str) -> str:
    """Of the code that makes a catalogue: the package's files, those of what it uses, and SQLite, whose ranks count."""
    used = [file_digest(Path(str(module.__file__))) for module in (matching, products, reward, store)]
    return " ".join((store.SQLITE, sources_digest(package), *used))
