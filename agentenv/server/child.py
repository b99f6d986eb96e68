"""The child of a `process` env: reads operations from stdin, answers on stdout, ends with its parent.

Stdin and stdout carry the messages: what the env prints goes to stderr, and it reads nothing.
"""

from __future__ import annotations

import contextlib
import os
import sys
from dataclasses import replace
from typing import Any, BinaryIO

import msgspec

from agentenv.errors import AgentEnvError, EnvFailed
from agentenv.protocol import Action, StepResult
from agentenv.server.host import EnvHost
from agentenv.server.process import ARGUMENTS, RESULTS, ChildCall, ChildHello, ChildReply
from agentenv.wire import clean_info, clean_text


def main() -> None:
    """Serve one env object until stdin ends."""
    calls, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    hello = msgspec.msgpack.decode(_read(calls), type=ChildHello)
    host = EnvHost(hello.spec(), hello.options, images=hello.images)
    try:
        while data := _read(calls):
            reply = _packed(_answer(host, msgspec.msgpack.decode(data, type=ChildCall)))
            replies.write(len(reply).to_bytes(4, "big") + reply)
            replies.flush()
    finally:
        with contextlib.suppress(EnvFailed):  # nobody is left to tell
            host.close()


def _answer(host: EnvHost, call: ChildCall) -> ChildReply:
    kind = ARGUMENTS.get(call.operation)
    argument = None if kind is None else msgspec.msgpack.decode(call.argument, type=kind)
    try:
        result = getattr(host, call.operation)(argument)
    except AgentEnvError as exc:
        return ChildReply(error=clean_text(exc.message), code=exc.code)
    field = RESULTS.get(call.operation)
    return ChildReply(**{field: _clean(result)}) if field else ChildReply()


def _packed(reply: ChildReply) -> bytes:
    try:
        return msgspec.msgpack.encode(reply)
    except (OverflowError, TypeError, ValueError) as exc:  # such as a whole number of more than 64 bits
        return msgspec.msgpack.encode(ChildReply(error=f"a result that cannot be packed: {exc}", code="env_failed"))


def _clean(result: Any) -> Any:
    """Lone surrogates cannot be packed; they are replaced here as the session replaces them elsewhere."""
    match result:
        case StepResult():
            return replace(result, observation=clean_text(result.observation), info=clean_info(result.info))
        case Action():
            return replace(result, text=clean_text(result.text))
    return clean_info(result)


def _read(stream: BinaryIO) -> bytes:
    head = stream.read(4)
    return stream.read(int.from_bytes(head, "big")) if len(head) == 4 else b""


if __name__ == "__main__":
    main()
