"""A retriever behind HTTP: `POST {queries, topk, return_scores}`, answered by `{result: [[{document, score}]]}`."""

from __future__ import annotations

import http.client
import json
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Sequence
from typing import Any

from agentenv.errors import BadCall, InfraError
from envservers.search.passages import Passage, passage_of
from envservers.search.retrieve.base import Hit

MAX_REPLY = 64 * 2**20
"""Bytes."""
DECIMALS = 6


class Remote:
    """Asks a server for every search; nothing promises that it answers the same tomorrow."""

    def __init__(self, url: str, *, timeout_s: float = 30.0) -> None:
        if urllib.parse.urlsplit(url).scheme not in ("http", "https"):
            raise BadCall(f"retriever {url!r}: must be an http or https address")
        self._url, self._timeout_s = url, timeout_s

    @property
    def digest(self) -> str:
        """Empty: the index cannot be known."""
        return ""

    def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        """See Retriever. InfraError when the server does not answer as it should."""
        body = json.dumps({"queries": list(queries), "topk": k, "return_scores": True}).encode()
        request = urllib.request.Request(self._url, body, {"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=self._timeout_s) as reply:
                lists = json.loads(reply.read(MAX_REPLY))["result"]
            if len(lists) != len(queries):
                raise ValueError(f"{len(lists)} lists for {len(queries)} queries")
            return [_ranked(rows, k) for rows in lists]
        except (OSError, http.client.HTTPException, ValueError, LookupError, TypeError, AttributeError) as exc:
            raise InfraError(f"retriever {self._url}: {type(exc).__name__}: {exc}") from exc


def _ranked(rows: Sequence[Any], k: int) -> list[Hit]:
    hits = [_hit(row, place) for place, row in enumerate(rows)]
    return sorted(hits, key=lambda hit: (-round(hit.score, DECIMALS), hit.id))[:k]


def _hit(row: Any, place: int) -> Hit:
    """`{document, score}`, or a bare document. A document's `id` ranks it among equals, else its place."""
    document = row.get("document", row)
    id = document.get("id", place)
    passage: Passage = passage_of(json.dumps(document))
    return Hit(int(id) if str(id).isdecimal() else place, float(row.get("score", 0.0)), passage)
