"""Models behind an OpenAI-compatible endpoint, as a `Policy`: requests, refusals, retries and a preflight."""

from agentenv.endpoint.policy import OpenAIPolicy, Preflight
from agentenv.endpoint.settings import EndpointSettings

__all__ = ["EndpointSettings", "OpenAIPolicy", "Preflight"]
