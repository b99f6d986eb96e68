"""The executable contract for environments, and test doubles for the outer edge.

from agentenv.testing import check_env

assert check_env("wordle").ok
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agentenv.testing.check import check_env, check_url, envs_at
    from agentenv.testing.fakes import FakeClock, ScriptedAgent, ScriptedPolicy
    from agentenv.testing.report import Finding, Latency, Measured, Report, Status

__all__ = [
    "FakeClock",
    "Finding",
    "Latency",
    "Measured",
    "Report",
    "ScriptedAgent",
    "ScriptedPolicy",
    "Status",
    "check_env",
    "check_url",
    "envs_at",
]

_HOMES = {
    "check": ("check_env", "check_url", "envs_at"),
    "fakes": ("FakeClock", "ScriptedAgent", "ScriptedPolicy"),
    "report": ("Finding", "Latency", "Measured", "Report", "Status"),
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: the children of a check import only what they need."""
    import importlib

    for home, names in _HOMES.items():
        if name in names:
            return getattr(importlib.import_module(f"agentenv.testing.{home}"), name)
    raise AttributeError(f"module 'agentenv.testing' has no attribute {name!r}")
