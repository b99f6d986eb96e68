"""The child of a `process` env: reads operations from stdin, answers on stdout, ends with its parent.

What the env prints goes to stderr, since stdout carries the messages.
"""

from __future__ import annotations

import os
import sys
from typing import BinaryIO

import msgspec

from agentenv.errors import AgentEnvError
from agentenv.server.host import EnvHost
from agentenv.server.process import ARGUMENTS, RESULTS, ChildCall, ChildHello, ChildReply


def main() -> None:
    """Serve one env object until stdin ends."""
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    calls = sys.stdin.buffer
    hello = msgspec.msgpack.decode(_read(calls), type=ChildHello)
    host = EnvHost(hello.spec(), hello.options)
    while data := _read(calls):
        reply = msgspec.msgpack.encode(_answer(host, msgspec.msgpack.decode(data, type=ChildCall)))
        replies.write(len(reply).to_bytes(4, "big") + reply)
        replies.flush()


def _answer(host: EnvHost, call: ChildCall) -> ChildReply:
    kind = ARGUMENTS.get(call.operation)
    argument = None if kind is None else msgspec.msgpack.decode(call.argument, type=kind)
    try:
        result = getattr(host, call.operation)(argument)
    except AgentEnvError as exc:
        return ChildReply(error=exc.message, code=exc.code)
    field = RESULTS.get(call.operation)
    return ChildReply(**{field: result}) if field else ChildReply()


def _read(stream: BinaryIO) -> bytes:
    head = stream.read(4)
    return stream.read(int.from_bytes(head, "big")) if len(head) == 4 else b""


if __name__ == "__main__":
    main()
