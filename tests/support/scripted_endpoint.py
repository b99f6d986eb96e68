"""A model endpoint whose every reply is written in the test: a real HTTP server on a free loopback port."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

USAGE = {"prompt_tokens": 11, "completion_tokens": 5, "total_tokens": 16}


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What the endpoint sends; a body that is no text is sent as JSON."""

    body: Any
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    drop: bool = False
    """Close the connection without a reply."""
    delay_s: float = 0.0
    """Seconds before it is sent."""


def chat(content: Any, *, finish_reason: str = "stop", usage: Any = USAGE, **message: Any) -> Reply:
    """An ordinary chat completion; `usage=None` leaves it out."""
    body = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "model": "tiny",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": content, **message},
                "finish_reason": finish_reason,
            }
        ],
    }
    return Reply(body=body if usage is None else {**body, "usage": usage})


def refusal(status: int, message: str, *, headers: Mapping[str, str] | None = None, **fields: Any) -> Reply:
    """An error in OpenAI's shape."""
    return Reply(status=status, body={"error": {"message": message, **fields}}, headers=headers or {})


Script = Iterable[Reply | Callable[[dict[str, Any]], Reply]]


class ScriptedEndpoint:
    """Use as `async with ScriptedEndpoint([...]) as endpoint`. The last item answers all further requests.

    An item may be a function of the request's JSON.
    """

    def __init__(self, script: Script, *, models: Any = None) -> None:
        self.requests: list[dict[str, Any]] = []
        self.headers: list[Mapping[str, str]] = []
        self._script, self._models = list(script), models

    async def __aenter__(self) -> ScriptedEndpoint:
        app = web.Application(client_max_size=64 * 1024 * 1024)
        app.router.add_post("/v1/chat/completions", self._chat)
        app.router.add_get("/v1/models", self._list)
        self._runner = web.AppRunner(app)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}/v1"
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self._runner.cleanup()

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        asked = await request.json()
        item = self._script[min(len(self.requests), len(self._script) - 1)]
        self.requests.append(asked)
        self.headers.append(dict(request.headers))
        reply = item(asked) if callable(item) else item
        await asyncio.sleep(reply.delay_s)
        if reply.drop:
            assert request.transport is not None
            request.transport.close()
            return web.Response()
        text = reply.body if isinstance(reply.body, str | bytes) else json.dumps(reply.body)
        data = text if isinstance(text, bytes) else text.encode()
        headers = {"Content-Type": "application/json", **reply.headers}
        return web.Response(status=reply.status, body=data, headers=headers)

    async def _list(self, request: web.Request) -> web.Response:
        if self._models is None:
            return web.Response(status=404)
        return web.json_response(self._models)
