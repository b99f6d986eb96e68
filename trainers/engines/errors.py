"""What can go wrong between an engine and its user."""

from __future__ import annotations

from agentenv.errors import AgentEnvError, InfraError


class EngineFailed(InfraError):
    """A forward pass failed; the requests in it are lost, others may work."""

    code = "engine_failed"


class PushFailed(AgentEnvError):
    """Weights did not arrive whole: an unknown name, another shape, a parameter left out, a stale cache."""

    code = "push_failed"


class PushCheckFailed(AgentEnvError):
    """Engine and learner disagree about log-probabilities after a push."""

    code = "push_check_failed"
