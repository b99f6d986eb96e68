"""The seam between a client and a table of sessions: calls go in, replies come out.

A transport does not retry and does not know what a call means. `TransportLost` says that a call may or may not have
arrived; `ServerUnreachable` that it did not.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from agentenv.wire import Call, Reply


class Transport(Protocol):
    """One way to reach a table of sessions."""

    address: str
    """For messages: a URL, or `this process`."""

    async def exchange(self, calls: Sequence[Call], timeout_s: float) -> list[Reply]:
        """The reply of each call, in order. Raises TransportLost or ServerUnreachable for all of them together."""

    async def get_json(self, path: str) -> bytes:
        """The body of a plain GET of the control plane, such as `/v1/envs`."""

    async def close(self) -> None:
        """Free connections; idempotent."""
