"""Addresses of servers, and what to say when none answers there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from agentenv.client.codec import encode
from agentenv.errors import BadCall, ServerUnreachable


def base_url_of(url: str) -> str:
    """`url` without a trailing slash; BadCall unless it is http or https with a host and nothing secret in it."""
    try:
        parts = urlsplit(url)
        _ = parts.port  # read where it is checked
    except ValueError as exc:
        raise BadCall(f"{url!r} is not a server's address: {exc}") from exc
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise BadCall(f"{url!r} is not a server's address; it looks like http://127.0.0.1:8000")
    if parts.username or parts.password:
        raise BadCall("an address must not carry a password; use token= or AGENTENV_TOKEN")
    if parts.query or parts.fragment:
        raise BadCall(f"{url!r}: a server's address has no query and no fragment")
    return url.rstrip("/")


def unreachable(address: str, cause: BaseException) -> ServerUnreachable:
    """The error of a server that is not there, with the command that starts one."""
    port = urlsplit(address).port or 80
    return ServerUnreachable(
        f"no server at {address} ({cause}); start one with `agentenv serve ENV --port {port}`, "
        f"or leave the address out to run the environment in this process"
    )


def env_path(env: str, below: str = "", *, options: Mapping[str, Any], **query: Any) -> str:
    """Where an env's card (or what lies `below` it) is asked for, under these options: its tasks depend on them."""
    if options:
        query["options"] = encode(dict(options)).decode()
    return f"/v1/envs/{quote(env, safe='')}{below}" + (f"?{urlencode(query)}" if query else "")
