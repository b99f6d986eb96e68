"""What a caller may set about a model endpoint."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from agentenv.endpoint.prices import Price
from agentenv.errors import BadAgent

ROUTE = "/chat/completions"
LOOPBACK = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointSettings:
    """Where the model is and how it samples. The key is no setting: it is read from the environment alone."""

    model: str
    url: str
    """Base URL, usually ending in `/v1`; a full `.../chat/completions` is accepted."""
    temperature: float | None = None
    """None leaves it to the endpoint; 0 is greedy."""
    max_tokens: int | None = 512
    """Of one completion; None leaves it to the endpoint."""
    timeout_s: float = 300.0
    """For one request, from sending it to the end of the reply."""
    retries: int = 5
    """After the first try, on 429, 5xx and lost connections."""
    requests_per_minute: float | None = None
    """Started at most; None sets no limit."""
    tokens_per_minute: float | None = None
    """Read and written at most, by the endpoint's counts; None sets no limit."""
    price: Price | None = None
    """For costs in records; None: costs are unknown."""

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise BadAgent(f"model_url={self.url!r}: must look like http://host:port/v1")
        if parts.username or parts.password:
            raise BadAgent("model_url holds a user name or password; keys come from OPENAI_API_KEY alone")
        if parts.query or parts.fragment:
            raise BadAgent(f"model_url={self.url!r}: must end with its path, without ? or #")

    @property
    def base(self) -> str:
        """The URL without a trailing slash and without the route."""
        return self.url.rstrip("/").removesuffix(ROUTE).rstrip("/")

    def describe(self) -> dict[str, Any]:
        """What makes two endpoints the same model: no port of a local server, no limits of patience."""
        host = urlsplit(self.url).hostname or ""
        return {
            "endpoint": "openai-chat",
            "host": "localhost" if host in LOOPBACK else host,
            "model": self.model,
            "temperature": self.temperature,
            "max_tokens": self.max_tokens,
        }
