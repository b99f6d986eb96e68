"""The HTTP application: routes of `/v1` over a table of sessions. Plain Starlette routes and msgspec bodies: the hot
path of a step is read, done, written.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import quote

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.websockets import WebSocket

from agentenv.errors import AgentEnvError, BadRequest, BodyTooLarge, NotFound, NotJson
from agentenv.server.batch import envelope, read_envelopes, run_batch
from agentenv.server.control import control, refuse_unknown
from agentenv.server.guard import Guard
from agentenv.server.openapi import openapi
from agentenv.server.sessions import Sessions, failure
from agentenv.server.socket import Socket
from agentenv.wire import (
    CreateBody,
    CreateCall,
    DeleteBody,
    DeleteCall,
    GetBody,
    GetCall,
    OracleCall,
    Problem,
    Reply,
    ResetBody,
    ResetCall,
    StepBody,
    StepCall,
    decode,
    encode_problem,
)

JSON = "application/json"
PROBLEM = "application/problem+json"

log = logging.getLogger("agentenv.server")
_encoder = msgspec.json.Encoder()
_create = msgspec.json.Decoder(CreateBody)
_reset = msgspec.json.Decoder(ResetBody)
_step = msgspec.json.Decoder(StepBody)


class BatchBody(msgspec.Struct, forbid_unknown_fields=True):
    """POST /v1/batch."""

    requests: msgspec.Raw


_batch = msgspec.json.Decoder(BatchBody)

Handler = Callable[[Request], Awaitable[Response]]


def make_app(
    sessions: Sessions, *, hosts: Iterable[str] = (), token: str | None = None, pages: Sequence[Mount] = ()
) -> Starlette:
    """The application over `sessions`, which live and end with it; `pages` are open to look at without the token."""

    async def create(request: Request) -> Response:
        return write(await sessions.handle(CreateCall(body=await read(request, _create))))

    async def step(request: Request) -> Response:
        call = StepCall(request.path_params["id"], await read(request, _step))
        reply = sessions.handle_now(call)
        return write(await sessions.handle(call) if reply is None else reply)

    async def reset(request: Request) -> Response:
        return write(await sessions.handle(ResetCall(request.path_params["id"], await read(request, _reset))))

    async def get(request: Request) -> Response:
        wanted = asked(request, "actions").get("actions", "0")
        if wanted not in ("0", "1"):
            raise BadRequest(f"actions={wanted!r}: must be 0 or 1")
        return write(await sessions.handle(GetCall(request.path_params["id"], GetBody(wanted == "1"))))

    async def delete(request: Request) -> Response:
        outcome = asked(request, "outcome").get("outcome")
        return write(await sessions.handle(DeleteCall(request.path_params["id"], DeleteBody(outcome))))

    async def oracle(request: Request) -> Response:
        return write(await sessions.handle(OracleCall(request.path_params["id"])))

    async def batch(request: Request) -> Response:
        body = await read(request, _batch)
        envelopes, as_list = read_envelopes(bytes(body.requests), sessions.limits.max_batch)
        if not as_list:
            reply = envelopes[0][1]
            raise (
                reply.body.error()
                if isinstance(reply, Reply) and isinstance(reply.body, Problem)
                else BadRequest("`requests` must be a list")
            )
        replies = [envelope(id, reply) for id, reply in await run_batch(sessions, envelopes)]
        return Response(_encoder.encode({"replies": replies}), media_type=JSON)

    async def plain(request: Request) -> Response:
        query = request.scope["query_string"].decode("latin-1")
        return Response(control(sessions, f"{quote(request.scope['path'])}?{query}"), media_type=JSON)

    async def health(request: Request) -> Response:
        return Response(b'{"ok":true}', media_type=JSON)

    async def describe(request: Request) -> Response:
        return Response(_encoder.encode(openapi(sessions)), media_type=JSON)

    async def socket(websocket: WebSocket) -> None:
        await Socket(websocket, sessions).run()

    routes = [
        _route("/v1/sessions/{id}/step", step, "POST"),
        _route("/v1/sessions/{id}/reset", reset, "POST"),
        _route("/v1/sessions/{id}/oracle", oracle, "GET"),
        _route("/v1/sessions/{id}", get, "GET"),
        _route("/v1/sessions/{id}", delete, "DELETE"),
        _route("/v1/sessions", create, "POST"),
        _route("/v1/batch", batch, "POST"),
        WebSocketRoute("/v1/ws", socket),
        _route("/healthz", health, "GET"),
        _route("/readyz", health, "GET"),
        _route("/openapi.json", describe, "GET"),
        _route("/v1/sessions", plain, "GET"),
        _route("/v1/envs/{env}/tasks", plain, "GET"),
        _route("/v1/envs/{env}", plain, "GET"),
        _route("/v1/envs", plain, "GET"),
        _route("/v1", plain, "GET"),
    ]
    app = Starlette(
        routes=[*routes, *pages],
        middleware=[Middleware(Guard, hosts=tuple(hosts), token=token, open_under=[page.path for page in pages])],
        exception_handlers={HTTPException: _http_problem, Exception: _internal_problem},
        lifespan=lambda app: _lifespan(sessions),
    )
    app.state.max_body_bytes = sessions.limits.max_body_bytes
    return app


def _route(path: str, handler: Handler, method: str) -> Route:
    async def guarded(request: Request) -> Response:
        try:
            return await handler(request)
        except AgentEnvError as exc:
            return write(failure(exc))
        except ClientDisconnect:  # in the middle of its body: there is nobody to answer
            return Response(status_code=400)

    return Route(path, guarded, methods=[method])


@contextlib.asynccontextmanager
async def _lifespan(sessions: Sessions) -> AsyncIterator[None]:
    reaper = asyncio.create_task(_reap(sessions))
    try:
        yield
    finally:
        reaper.cancel()
        await sessions.close()


async def _reap(sessions: Sessions) -> None:
    pause = min(5.0, max(0.05, sessions.limits.lease_s / 4))
    while True:
        await asyncio.sleep(pause)
        try:
            sessions.reap()
        except Exception:  # the next round may do better; without a reaper every slot is lost in the end
            log.exception("closing expired sessions")


async def read(request: Request, decoder: msgspec.json.Decoder[Any]) -> Any:
    """The body of a request, bounded and typed."""
    kind = request.headers.get("content-type", "")
    if kind.partition(";")[0].strip().lower() != JSON:
        raise NotJson(f"content type {kind!r}: send {JSON}")
    most = request.app.state.max_body_bytes
    declared = request.headers.get("content-length")
    if declared is not None and declared.isdigit() and int(declared) > most:
        raise BodyTooLarge(f"a body of {declared} bytes; at most {most}")
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > most:
            raise BodyTooLarge(f"a body of over {most} bytes")
        parts.append(part)
    return decode(b"".join(parts), decoder)


def asked(request: Request, *known: str) -> Mapping[str, str]:
    """The query of a request; BadRequest names a parameter that there is not."""
    refuse_unknown(request.query_params, known)
    return request.query_params


def write(reply: Reply) -> Response:
    """A reply as a response."""
    if not isinstance(reply.body, Problem):
        return Response(_encoder.encode(reply.body), status_code=reply.status, media_type=JSON)
    headers = {"Retry-After": f"{reply.retry_after_s:g}"} if reply.retry_after_s else None
    return Response(encode_problem(reply.body), reply.status, headers, PROBLEM)


async def _http_problem(request: Request, exc: Exception) -> Response:
    """Starlette's own refusals (no route, wrong method) as problem documents."""
    assert isinstance(exc, HTTPException)
    path = request.scope["path"]
    problem = Problem.of(NotFound(f"{request.method} {path}: {exc.detail}; see /v1 and /openapi.json"))
    problem.status = exc.status_code
    if exc.status_code == 405:
        problem.code, problem.title, problem.type = "wrong_method", "wrong method", "urn:agentenv:wrong_method"
    return Response(encode_problem(problem), exc.status_code, dict(exc.headers or {}), PROBLEM)


async def _internal_problem(request: Request, exc: Exception) -> Response:
    """A fault of this server's own; Starlette has it logged."""
    return write(failure(AgentEnvError(f"internal error: {type(exc).__name__}")))
