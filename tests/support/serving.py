"""A real server on a loopback port, in a thread of the test's process."""

import asyncio
import contextlib
import threading
from collections.abc import Iterator, Sequence

import uvicorn
from starlette.routing import Mount

from agentenv.server.app import make_app
from agentenv.server.serve import bind
from agentenv.server.sessions import Sessions


@contextlib.contextmanager
def running(
    sessions: Sessions, *, token: str | None = None, port: int = 0, pages: Sequence[Mount] = ()
) -> Iterator[str]:
    """Serve `sessions`; yields the base URL."""
    listener = bind("127.0.0.1", port)
    app = make_app(sessions, hosts=(), token=token, pages=pages)
    config = uvicorn.Config(
        app,
        log_level="warning",
        ws_max_size=sessions.limits.max_body_bytes,
        ws_per_message_deflate=False,
        timeout_graceful_shutdown=1,
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[listener])), daemon=True)
    thread.start()
    try:
        while not server.started:
            thread.join(0.005)
            assert thread.is_alive(), "the server ended at its start"
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(10.0)
        listener.close()
        assert not thread.is_alive(), "the server did not end"
