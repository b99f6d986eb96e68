"""One session over HTTP, in process: the replies as they travel."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import httpx

from agentenv.registry import EnvSpec
from agentenv.server.app import make_app
from agentenv.server.sessions import Sessions


def replies(
    spec: EnvSpec,
    task: str,
    actions: Sequence[str],
    *,
    options: Mapping[str, Any] | None = None,
    served: Mapping[str, Any] | None = None,
) -> list[httpx.Response]:
    """The replies to `create`, with `options`, and to each action; `served`: what the server was started with."""

    async def run() -> list[httpx.Response]:
        sessions = Sessions([spec], env_options={spec.id: dict(served or {})})
        transport = httpx.ASGITransport(app=make_app(sessions))
        try:
            async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
                body = {"env": spec.id, "task": task, "options": dict(options or {})}
                made = await client.post("/v1/sessions", json=body)
                step = f"/v1/sessions/{made.json()['session']}/step"
                return [made, *[await client.post(step, json={"action": action}) for action in actions]]
        finally:
            await sessions.close()

    return asyncio.run(run())
