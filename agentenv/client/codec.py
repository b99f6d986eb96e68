"""Calls to JSON and replies from it, for the transports with a wire."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from agentenv.errors import AgentEnvError
from agentenv.wire import REPLY_TYPES, Call, Problem, Reply, decode_problem

MAX_REPLY_BYTES = 64 * 1024 * 1024
CHUNK_BYTES = 1024 * 1024
"""Calls are put into one message up to this size; a server takes at least eight times as much."""
CHUNK_CALLS = 1024

_encoder = msgspec.json.Encoder()
_decoders: dict[type, Any] = {call: msgspec.json.Decoder(reply) for call, reply in REPLY_TYPES.items()}


class ReplyEnvelope(msgspec.Struct):
    """One reply of a batch or a socket."""

    id: int | str
    status: int
    body: msgspec.Raw
    retry_after_s: float | None = None


class BatchReply(msgspec.Struct):
    """The reply of /v1/batch."""

    replies: list[ReplyEnvelope]


_batch_decoder = msgspec.json.Decoder(BatchReply)


def encode_calls(calls: Sequence[Call]) -> Iterator[tuple[list[bytes], list[Call]]]:
    """Chunks of encoded envelopes, each with its calls."""
    chunk: list[bytes] = []
    part: list[Call] = []
    size = 0
    for call in calls:
        data = _encoder.encode(call)
        if chunk and (size + len(data) > CHUNK_BYTES or len(chunk) >= CHUNK_CALLS):
            yield chunk, part
            chunk, part, size = [], [], 0
        chunk.append(data)
        part.append(call)
        size += len(data)
    if chunk:
        yield chunk, part


def decode_reply(call: Call, status: int, data: Any, retry_after_s: float | None) -> Reply:
    """The reply of one call; AgentEnvError when it is no reply of this protocol."""
    try:
        if status < 400:
            return Reply(status, _decoders[type(call)].decode(data), retry_after_s)
        return Reply(status, decode_problem(bytes(data)), retry_after_s)
    except msgspec.MsgspecError as exc:
        if status >= 500:  # a proxy between us and the server
            return Reply(status, _foreign(status, data), retry_after_s)
        raise AgentEnvError(f"status {status}, not a reply of this protocol: {bytes(data)[:200]!r}") from exc


def decode_batch(calls: Sequence[Call], data: bytes) -> list[Reply]:
    """The replies of a batch, which come in the order of its calls."""
    replies = _batch_decoder.decode(data).replies
    if len(replies) != len(calls):
        raise AgentEnvError(f"a batch of {len(calls)} calls got {len(replies)} replies")
    return [decode_reply(c, r.status, r.body, r.retry_after_s) for c, r in zip(calls, replies, strict=True)]


def _foreign(status: int, data: Any) -> Problem:
    return Problem(
        type="about:blank",
        title="bad gateway",
        status=status,
        detail=f"status {status} from something that is no agentenv server: {bytes(data)[:200]!r}",
        code="infra_error",
        retryable=status in (502, 503, 504),
    )
