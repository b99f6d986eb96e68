"""From what a user says (an address or none, a token or none) to a transport."""

from __future__ import annotations

import os

from agentenv.client.http import HttpTransport
from agentenv.client.transport import Transport
from agentenv.client.websocket import WebSocketTransport
from agentenv.errors import BadCall

TRANSPORTS = ("websocket", "http")


def remote(base_url: str, *, token: str | None = None, transport: str = "websocket") -> Transport:
    """A transport to a server; the token defaults to AGENTENV_TOKEN."""
    token = token or os.environ.get("AGENTENV_TOKEN") or None
    match transport:
        case "websocket":
            return WebSocketTransport(base_url, token=token)
        case "http":
            return HttpTransport(base_url, token=token)
    raise BadCall(f"transport {transport!r}: choose from {', '.join(TRANSPORTS)}")
