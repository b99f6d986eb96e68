"""agentenv's server, and its async client core: `ours.py serve`, `ours.py client URL PID`."""

import sys

import side
from fixed import ACTION

from agentenv.client.connect import remote
from agentenv.client.core import SLACK_S, Connection, RemoteSession
from agentenv.server.serve import ServeConfig, serve
from agentenv.testing.rates import close_sessions, open_sessions


def main(mode: str, url: str = "", pid: str = "") -> None:
    if mode == "serve":
        from fixed_env import SPEC

        serve([SPEC], ServeConfig(port=0), on_ready=side.tell_url)
    else:
        side.run(client(url, int(pid)))


async def client(url: str, server: int) -> None:
    connections = {way: Connection(remote(url, transport=way)) for way in ("websocket", "http")}

    async def measure(way: str, count: int, seconds: float) -> side.Rate:
        transport, _, batch = way.partition(" ")
        connection = connections[transport]
        sessions = await open_sessions(connection, "fixed", "fixed/test/0", count)
        try:
            for spell in (side.WARM_UP_S, seconds):
                if batch:
                    rate = await side.rate([lambda: all_of(connection, sessions)], spell, server, each=count)
                else:
                    rate = await side.rate([lambda s=s: s.step(ACTION) for s in sessions], spell, server)
            return rate
        finally:
            await close_sessions(sessions)

    await side.answer_jobs(measure)
    for connection in connections.values():
        await connection.close()


async def all_of(connection: Connection, sessions: list[RemoteSession]) -> None:
    """One step of every session in one message."""
    replies = await connection.send([s.step_call(ACTION) for s in sessions], sessions[0].limits.step_s + SLACK_S)
    for session, reply in zip(sessions, replies, strict=True):
        session.took_step(reply)


if __name__ == "__main__":
    main(*sys.argv[1:])
