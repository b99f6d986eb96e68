"""Calls to JSON and replies from it, for the transports with a wire."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from agentenv.errors import AgentEnvError, BadCall
from agentenv.wire import REPLY_TYPES, Call, Problem, Reply, StepReply, decode_problem

MAX_REPLY_BYTES = 64 * 1024 * 1024
CHUNK_BYTES = 1024 * 1024
"""Calls are put into one message up to this size; a server takes at least eight times as much."""
CHUNK_CALLS = 1024

_encoder = msgspec.json.Encoder()
_decoders: dict[type, Any] = {call: msgspec.json.Decoder(reply) for call, reply in REPLY_TYPES.items()}


class ReplyEnvelope(msgspec.Struct, gc=False):
    """One reply of a batch or a socket."""

    id: int | str
    status: int
    body: msgspec.Raw
    retry_after_s: float | None = None


class StepEnvelope(msgspec.Struct, gc=False):
    """The reply of a step; read in one pass, where the other kind takes two."""

    id: int | str
    status: int
    body: StepReply
    retry_after_s: float | None = None


class BatchReply(msgspec.Struct):
    """The reply of /v1/batch."""

    replies: list[ReplyEnvelope]


_batch_decoder = msgspec.json.Decoder(BatchReply)


def encode(value: Any) -> bytes:
    """A call or its body as JSON; BadCall when something in it has no JSON."""
    try:
        return _encoder.encode(value)
    except (TypeError, ValueError) as exc:
        raise BadCall(f"cannot be sent as JSON: {exc}") from exc


def encode_all(calls: Sequence[Call]) -> list[bytes]:
    """Each call as JSON; BadCall when something in one has no JSON."""
    one = _encoder.encode
    try:
        return [one(call) for call in calls]
    except (TypeError, ValueError) as exc:
        raise BadCall(f"cannot be sent as JSON: {exc}") from exc


def in_chunks(envelopes: Sequence[bytes]) -> Iterator[Sequence[bytes]]:
    """Encoded envelopes in their order, as many together as go into one message."""
    start = size = 0
    for i, data in enumerate(envelopes):
        if i > start and (size + len(data) > CHUNK_BYTES or i - start >= CHUNK_CALLS):
            yield envelopes[start:i]
            start, size = i, 0
        size += len(data)
    if start < len(envelopes):
        yield envelopes[start:]


def decode_reply(call: Call, status: int, data: Any, retry_after_s: float | None) -> Reply:
    """The reply of one call; AgentEnvError when it is no reply of this protocol."""
    try:
        if status < 400:
            return Reply(status, _decoders[type(call)].decode(data), retry_after_s)
        return Reply(status, decode_problem(bytes(data)), retry_after_s)
    except msgspec.MsgspecError as exc:
        if status >= 500:  # a proxy between us and the server
            return Reply(status, foreign(status, data), retry_after_s)
        raise AgentEnvError(f"status {status}, not a reply of this protocol: {bytes(data)[:200]!r}") from exc


def decode_batch(calls: Sequence[Call], data: bytes) -> list[Reply]:
    """The replies of a batch, which come in the order of its calls."""
    try:
        replies = _batch_decoder.decode(data).replies
    except msgspec.MsgspecError as exc:
        raise AgentEnvError(f"not a batch's reply of this protocol: {data[:200]!r}") from exc
    if len(replies) != len(calls):
        raise AgentEnvError(f"a batch of {len(calls)} calls got {len(replies)} replies")
    return [decode_reply(c, r.status, r.body, r.retry_after_s) for c, r in zip(calls, replies, strict=True)]


def foreign(status: int, data: Any) -> Problem:
    """The problem in a reply that something between us and a server made."""
    return Problem(
        type="about:blank",
        title="bad gateway",
        status=status,
        detail=f"status {status} from something that is no agentenv server: {bytes(data)[:200]!r}",
        code="infra_error",
        retryable=status in (502, 503, 504),
    )
