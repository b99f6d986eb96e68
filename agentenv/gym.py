"""Registration in gymnasium, and `make`.

`import agentenv` leaves a note that registers every env as soon as gymnasium is imported, before or after; importing
gymnasium itself here would make every command and every child process pay for numpy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentenv.registry import get_spec, specs

if TYPE_CHECKING:
    from agentenv.client.env_client import EnvClient

NAMESPACE = "agentenv"


def register_all(gymnasium: Any = None) -> None:
    """Register every usable env that is not registered yet. Plug-ins that cannot be imported are left out."""
    if gymnasium is None:
        import gymnasium

    for spec in specs():
        name = f"{NAMESPACE}/{spec.gym_name}"
        if not spec.gym_name or name in gymnasium.registry:
            continue
        gymnasium.register(
            name,
            entry_point="agentenv.client.env_client:EnvClient",
            vector_entry_point="agentenv.client.vector:VectorEnvClient",
            order_enforce=False,
            disable_env_checker=True,
            kwargs={"env": spec.id},
        )


def make(env: str, **kwargs: Any) -> EnvClient:
    """The client of one environment: `make("textcraft")`, `make("textcraft", base_url="http://127.0.0.1:8000")`.

    Without an address the env runs in this process. Other keywords are those of EnvClient and the env's options.
    """
    from agentenv.client.env_client import EnvClient

    if kwargs.get("base_url") is None:
        get_spec(env)  # a wrong name is told with the nearest one
    return EnvClient(env, **kwargs)
