"""The sites by HTTP, for the browser alone: which session a request belongs to is said by a header.

Loopback only. A request without a known session is 403; a host that is no site of the session is 421.
"""

from __future__ import annotations

import asyncio
import datetime
import secrets
import socket
from dataclasses import dataclass
from email.utils import format_datetime
from urllib.parse import parse_qsl

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from envservers.webarena.site import Pairs, SiteRequest, SiteResponse
from envservers.webarena.state.session import SiteSession

HEADER = "X-Env-Session"
POLICY = "script-src 'self'; object-src 'none'; frame-src 'none'; base-uri 'none'"
"""Scripts come from files of the site alone: what a customer wrote into a review or a link never runs."""
MOST_BODY = 1 << 20
"""Bytes of a form."""
MOST_FIELDS = 2000


@dataclass(slots=True)
class Guest:
    """One browser context and the session it belongs to."""

    session: SiteSession | None = None
    """None while the context waits for a session."""
    failure: Exception | None = None
    """What a site raised; the engine reports it."""


class SitesServer:
    """Lives on one event loop."""

    def __init__(self) -> None:
        self.guests: dict[str, Guest] = {}
        self.port = 0
        self._server: uvicorn.Server | None = None
        self._serving: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Listen on a free port of loopback."""
        listener = socket.create_server(("127.0.0.1", 0))
        self.port = listener.getsockname()[1]
        app = Starlette(routes=[Route("/{path:path}", self.answer, methods=["GET", "POST"])])
        config = uvicorn.Config(
            app, log_config=None, access_log=False, date_header=False, server_header=False, lifespan="off", ws="none"
        )
        self._server = uvicorn.Server(config)
        self._serving = asyncio.create_task(self._server.serve(sockets=[listener]))
        while not self._server.started:
            if self._serving.done():
                self._serving.result()
            await asyncio.sleep(0.005)

    async def stop(self) -> None:
        """Stop listening."""
        if self._server is not None and self._serving is not None:
            self._server.should_exit = self._server.force_exit = True
            await self._serving

    def admit(self) -> str:
        """A name for a new context, which nobody can guess."""
        token = secrets.token_urlsafe(24)
        self.guests[token] = Guest()
        return token

    def dismiss(self, token: str) -> None:
        """Forget a context."""
        self.guests.pop(token, None)

    async def answer(self, request: Request) -> Response:
        """Pass a request to the site of its host."""
        guest = self.guests.get(request.headers.get(HEADER, ""))
        if guest is None or guest.session is None:
            return Response("no such session", 403, media_type="text/plain")
        if request.scope["path"] == "/favicon.ico":  # asked for by some browsers and not by others: no page's business
            return Response(status_code=404)
        try:
            return _to_http(guest.session.handle(await _from_http(request)), guest.session)
        except _TooMuch:
            return Response("too much", 413, media_type="text/plain")
        except Exception as error:
            guest.failure = error
            return Response("the site failed", 500, media_type="text/plain")


class _TooMuch(Exception):
    pass


async def _from_http(request: Request) -> SiteRequest:
    form: Pairs = ()
    if request.method == "POST":
        if int(request.headers.get("content-length") or 0) > MOST_BODY:
            raise _TooMuch
        form = _pairs((await request.body()).decode("utf-8", errors="replace"))
    return SiteRequest(
        method=request.method,
        host=request.headers.get("host", ""),
        path=request.scope["path"],
        query=_pairs(request.scope["query_string"].decode("latin-1")),
        form=form,
        cookies=request.cookies,
        referer=request.headers.get("referer", ""),
    )


def _pairs(text: str) -> Pairs:
    try:
        return tuple(parse_qsl(text, keep_blank_values=True, max_num_fields=MOST_FIELDS))
    except ValueError as error:
        raise _TooMuch from error


def _to_http(answer: SiteResponse, session: SiteSession) -> Response:
    response = Response(answer.body, answer.status, headers={"Content-Type": answer.content_type})
    if answer.location:
        response.headers["Location"] = answer.location
    if answer.immutable:
        # No Date: the browser would count the age of what it keeps from the session's time.
        response.headers["Cache-Control"] = "public, max-age=31536000, immutable"
    else:
        response.headers["Cache-Control"] = "no-store"
        response.headers["Content-Security-Policy"] = POLICY
        response.headers["Date"] = _http_date(session.now().time)
    for name, value in answer.cookies:
        gone = "" if value else "; Max-Age=0"
        response.headers.append("Set-Cookie", f"{name}={value}; Path=/; HttpOnly; SameSite=Lax{gone}")
    return response


def _http_date(time: str) -> str:
    return format_datetime(datetime.datetime.fromisoformat(time).replace(tzinfo=datetime.UTC), usegmt=True)
