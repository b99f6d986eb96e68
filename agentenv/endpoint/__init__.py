"""Models behind an OpenAI-compatible endpoint, as a `Policy`: requests, refusals, retries and a preflight."""

from agentenv.endpoint.policy import OpenAIPolicy, Preflight
from agentenv.endpoint.prices import Price, load_prices
from agentenv.endpoint.settings import EndpointSettings
from agentenv.endpoint.spent import Spent

__all__ = ["EndpointSettings", "OpenAIPolicy", "Preflight", "Price", "Spent", "load_prices"]
