"""What the sides have in common: a server says where it is, a client measures on demand. Standard library only, since
one side runs in a virtual environment of its own.

A server prints its port as a line of JSON and runs until it is terminated. A client reads jobs as lines of JSON
(`way`, `sessions`, `seconds`) and answers each with a line: steps per second, and the CPU time of client and server in
microseconds per step, which other work on the machine hardly changes.
"""

import asyncio
import json
import os
import socket
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

WARM_UP_S = 0.2
BACKLOG = 2048

Play = Callable[[], Awaitable[object]]
"""One step of one session, or of all of them."""
Rate = dict[str, float]


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
    tell_url(f"http://127.0.0.1:{listener.getsockname()[1]}")
    return listener


def tell_url(url: str) -> None:
    tell({"url": url, "pid": os.getpid()})


def tell(value: object) -> None:
    print(json.dumps(value), flush=True)


def serve_asgi(app) -> None:
    """Serve an ASGI application by uvicorn without its access log and without compression."""
    import uvicorn

    config = uvicorn.Config(app, log_level="warning", access_log=False, ws_per_message_deflate=False)
    uvicorn.Server(config).run(sockets=[listen()])


async def answer_jobs(measure: Callable[[str, int, float], Awaitable[Rate]]) -> None:
    """Measure what stdin asks for, until it ends."""
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        job = json.loads(line)
        tell(await measure(job["way"], job["sessions"], job["seconds"]))


async def rate(plays: list[Play], seconds: float, server: int, *, each: int = 1) -> Rate:
    """How fast the plays go, each again and again and none waiting for another; `each` is the steps of one play."""
    cpu_before, started = cpu_s(server), time.perf_counter()
    until = started + seconds

    async def go_on(play: Play) -> int:
        steps = 0
        while time.perf_counter() < until:
            await play()
            steps += each
        return steps

    steps = sum(await asyncio.gather(*map(go_on, plays)))
    took, cpu = time.perf_counter() - started, cpu_s(server)
    return {
        "steps_per_s": steps / took,
        "client_us": 1e6 * (cpu[0] - cpu_before[0]) / steps,
        "server_us": 1e6 * (cpu[1] - cpu_before[1]) / steps,
    }


def cpu_s(server: int) -> tuple[float, float]:
    """CPU seconds of this process and of the server's, so far."""
    fields = Path(f"/proc/{server}/stat").read_text().rpartition(")")[2].split()
    return time.process_time(), (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
