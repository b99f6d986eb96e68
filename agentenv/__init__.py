"""An environment-centric gym platform for LLM agents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wrapt import register_post_import_hook

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


def _register_in_gymnasium(gymnasium: Any) -> None:
    from agentenv.gym import register_all

    register_all(gymnasium)


register_post_import_hook(_register_in_gymnasium, "gymnasium")
