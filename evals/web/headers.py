"""The headers of every reply: a page loads nothing from elsewhere, runs no text as code, and is shown in no frame."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-cache",
}
FOREVER = "private, max-age=31536000, immutable"
"""For a picture, which is named by the hash of its bytes. A reply that has it gets `PICTURE_HEADERS`."""

PICTURE_HEADERS = {
    **HEADERS,
    # a browser puts a picture that is opened by itself into a page, which it lays out with styles of its own
    "content-security-policy": "default-src 'none'; img-src 'self'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    "cache-control": FOREVER,
}

_RAW, _PICTURE = ([(n.encode(), v.encode()) for n, v in named.items()] for named in (HEADERS, PICTURE_HEADERS))
_FOREVER = (b"cache-control", FOREVER.encode())


class Headers:
    """ASGI middleware that adds them, to errors too."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                kept = [pair for pair in message["headers"] if pair[0].decode("latin-1").lower() not in HEADERS]
                ours = _PICTURE if _FOREVER in message["headers"] else _RAW
                message = {**message, "headers": [*kept, *ours]}
            await send(message)

        await self.app(scope, receive, with_headers)
