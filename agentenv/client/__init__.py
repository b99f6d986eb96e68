"""The client: one async core over three transports, and the gymnasium faces of it."""

from agentenv.client.env_client import EnvClient
from agentenv.client.vector import VectorEnvClient

__all__ = ["EnvClient", "VectorEnvClient"]
