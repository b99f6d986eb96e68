"""`agentenv leaderboard --web`: the pages on this machine, until a signal comes."""

from __future__ import annotations

import json as jsonlib
import os

import typer

HOST = "127.0.0.1"


def serve(port: int, *, json: bool = False) -> None:
    """Serve the pages on loopback. PortBusy names the process that holds the port."""
    import uvicorn

    from agentenv.server.guard import Guard
    from agentenv.server.serve import bind
    from evals.web.app import make_app
    from evals.web.database import ReadOnlyStore

    store = ReadOnlyStore.open()
    listener = bind(HOST, port)
    url = f"http://{HOST}:{listener.getsockname()[1]}"
    told = jsonlib.dumps({"url": url, "pid": os.getpid()})
    typer.echo(told if json else f"The leaderboard of {store.name} at {url} (Ctrl-C stops it)")
    # loopback alone is answered to, so that no other page can reach it by a name that resolves here
    config = uvicorn.Config(Guard(make_app(store), hosts=(), token=None), log_level="warning", access_log=False)
    try:
        uvicorn.Server(config).run(sockets=[listener])
    except KeyboardInterrupt:  # uvicorn has ended in order, and hands the signal on
        pass
    finally:
        listener.close()
        store.close()
