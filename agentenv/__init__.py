"""An environment-centric gym platform for LLM agents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agentenv.client import EnvClient, VectorEnvClient
    from agentenv.gym import make
    from agentenv.pool import EnvPool
    from agentenv.registry import EnvSpec, register

__version__ = "0.1.0"
__all__ = ["EnvClient", "EnvPool", "EnvSpec", "VectorEnvClient", "make", "register"]

_HOMES = {
    "EnvClient": "agentenv.client",
    "EnvPool": "agentenv.pool",
    "EnvSpec": "agentenv.registry",
    "VectorEnvClient": "agentenv.client",
    "make": "agentenv.gym",
    "register": "agentenv.registry",
}


def __getattr__(name: str) -> Any:
    """Import public names when they are first used: `import agentenv` itself stays light."""
    if name in _HOMES:
        import importlib

        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'agentenv' has no attribute {name!r}")
