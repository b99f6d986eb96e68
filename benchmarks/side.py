"""What the sides have in common: a server says where it is, a client measures on demand. Standard library only, since
one side runs in a virtual environment of its own.

A server prints its port as a line of JSON and runs until it is terminated. A client reads jobs as lines of JSON
(`way`, `sessions`, `seconds`) and answers each with a line (`steps_per_s`).
"""

import asyncio
import json
import os
import socket
import sys
import time
from collections.abc import Awaitable, Callable

WARM_UP_S = 0.2
BACKLOG = 2048

Play = Callable[[], Awaitable[object]]
"""One step of one session."""


def run(work):
    """Run a coroutine on uvloop."""
    import uvloop

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(work)


def listen() -> socket.socket:
    """A free port of loopback, told on stdout: uvicorn accepts what queues up before it is ready."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(BACKLOG)
    tell({"url": f"http://127.0.0.1:{listener.getsockname()[1]}"})
    return listener


def tell(value: object) -> None:
    print(json.dumps(value), flush=True)


def serve_asgi(app) -> None:
    """Serve an ASGI application by uvicorn without its access log and without compression."""
    import uvicorn

    config = uvicorn.Config(app, log_level="warning", access_log=False, ws_per_message_deflate=False)
    uvicorn.Server(config).run(sockets=[listen()])


async def answer_jobs(measure: Callable[[str, int, float], Awaitable[float]]) -> None:
    """Measure what stdin asks for, until it ends."""
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        job = json.loads(line)
        rate = await measure(job["way"], job["sessions"], job["seconds"])
        tell({"steps_per_s": rate, "pid": os.getpid()})


async def rate_of_each(plays: list[Play], seconds: float) -> float:
    """Steps per second of sessions that each send their next step when the last one is answered."""
    started = time.perf_counter()
    until = started + seconds

    async def go_on(play: Play) -> int:
        steps = 0
        while time.perf_counter() < until:
            await play()
            steps += 1
        return steps

    steps = sum(await asyncio.gather(*map(go_on, plays)))
    return steps / (time.perf_counter() - started)


async def rate_of_all(play: Play, count: int, seconds: float) -> float:
    """Steps per second where one call does `count` steps."""
    return count * await rate_of_each([play], seconds)
