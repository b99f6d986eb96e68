"""Envelopes: several calls in one message, by `/v1/batch` and by `/v1/ws`. A bad one spoils only itself."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import msgspec

from agentenv.errors import AgentEnvError, BadRequest
from agentenv.server.sessions import Sessions, failure
from agentenv.wire import Call, Problem, Reply, decode, encode_problem

Envelope = tuple[int | str, Call | Reply]
"""An id, and the call to do or the reply to a call that cannot be read."""


class ReplyEnvelope(msgspec.Struct, omit_defaults=True, gc=False):
    """One reply as it travels."""

    id: int | str
    status: int
    body: Any
    retry_after_s: float | None = None


class _Id(msgspec.Struct):
    id: int | str = 0


_encoder = msgspec.json.Encoder()
_calls = msgspec.json.Decoder(list[Call] | Call)
_call = msgspec.json.Decoder(Call)
_raws = msgspec.json.Decoder(list[msgspec.Raw])
_id = msgspec.json.Decoder(_Id)


def read_envelopes(data: bytes, most: int) -> tuple[list[Envelope], bool]:
    """The envelopes of a message, and whether it was a list."""
    try:
        got = _calls.decode(data)
    except (msgspec.MsgspecError, RecursionError):
        return _one_by_one(data, most)
    if not isinstance(got, list):
        return [(got.id, got)], False
    if len(got) > most:
        return [_too_many(len(got), most)], False
    return [(call.id, call) for call in got], True


def _one_by_one(data: bytes, most: int) -> tuple[list[Envelope], bool]:
    try:
        parts: list[msgspec.Raw] = decode(data, _raws)
    except AgentEnvError:
        return [_read(data)], False
    if len(parts) > most:
        return [_too_many(len(parts), most)], False
    return [_read(bytes(part)) for part in parts], True


def _too_many(calls: int, most: int) -> Envelope:
    return 0, failure(BadRequest(f"{calls} calls in one message; at most {most}"))


def _read(data: bytes) -> Envelope:
    try:
        call = decode(data, _call)
        return call.id, call
    except AgentEnvError as exc:
        try:
            return decode(data, _id).id, failure(exc)
        except AgentEnvError:
            return 0, failure(exc)


def envelope(id: int | str, reply: Reply) -> ReplyEnvelope:
    """One reply as it travels."""
    body = reply.body
    raw = msgspec.Raw(encode_problem(body)) if isinstance(body, Problem) else body
    return ReplyEnvelope(id, reply.status, raw, reply.retry_after_s)


encode = _encoder.encode
"""JSON of an envelope, or of a list of them."""


async def run_batch(sessions: Sessions, envelopes: Sequence[Envelope]) -> list[tuple[int | str, Reply]]:
    """The reply of every envelope, in their order; slow ones run side by side."""
    replies: list[tuple[int | str, Reply | asyncio.Task[Reply]]] = []
    for id, call in envelopes:
        reply = call if isinstance(call, Reply) else sessions.handle_now(call)
        replies.append((id, reply if reply is not None else sessions.start(call)))  # type: ignore[arg-type]
    late = [r for _, r in replies if isinstance(r, asyncio.Task)]
    if late:
        await asyncio.wait(late)
    return [(id, r if isinstance(r, Reply) else r.result()) for id, r in replies]
