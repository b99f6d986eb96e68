"""A hash over every turn of a run, each built on the one before: a change anywhere changes the root.

The root shows a change only to those who have it from before. Canonical JSON is that of RFC 8785.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from agentenv.errors import BadCall
from agentenv.trajectory import as_values
from evals.verify.record import Try

START = hashlib.sha256(b"agentenv chain 1").digest()


def chain_root(tries: Iterable[Try]) -> str:
    """The last link, in hexadecimal: `sha256(previous || canonical JSON)` over heads and turns of all tries."""
    link = START
    for item in _items(tries):
        link = hashlib.sha256(link + canonical(item)).digest()
    return link.hex()


def canonical(value: Any) -> bytes:
    """RFC 8785's bytes of a JSON value; BadCall for numbers that it has none for."""
    import rfc8785

    try:
        return bytes(rfc8785.dumps(value))
    except (rfc8785.CanonicalizationError, UnicodeEncodeError) as exc:
        raise BadCall(f"a record holds what canonical JSON cannot: {exc}") from exc


def _items(tries: Iterable[Try]) -> Iterator[Any]:
    for one in tries:
        head = as_values(replace(one.trajectory, turns=[]))
        yield {"slot": one.slot, "try": one.number, "superseded": one.superseded, "episode": head}
        for turn in one.trajectory.turns:
            yield as_values(turn)
