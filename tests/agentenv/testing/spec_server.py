"""A server on a real socket, in a thread of the test's process."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import uvicorn

from agentenv.registry import EnvSpec
from agentenv.server.app import make_app
from agentenv.server.serve import bind
from agentenv.server.sessions import Sessions


@contextmanager
def served(specs: Sequence[EnvSpec], *, oracle: bool = False) -> Iterator[str]:
    """The URL of a server of `specs`, which has ended when the block is left."""
    listener = bind("127.0.0.1", 0)
    config = uvicorn.Config(make_app(Sessions(specs, oracle=oracle)), log_level="warning", ws_per_message_deflate=False)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=lambda: asyncio.run(server.serve([listener])))
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"  # the socket listens: early calls wait in its queue
    finally:
        server.should_exit = True
        thread.join()
        listener.close()
