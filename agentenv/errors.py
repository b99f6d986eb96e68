"""Every error that a user can meet, in one tree.

AgentEnvError
├── BadCall                     the call was wrong; exit code 2
│   ├── UnknownEnv              no environment of that id
│   ├── UnknownTask             no such split, index or id
│   ├── UnknownOption           no such option, or a value outside its type or choices
│   ├── BadRequest              a request that the server cannot read
│   │   ├── MalformedJson       the body is not JSON
│   │   ├── BodyTooLarge        the body is over the limit
│   │   ├── NotJson             the content type is another one
│   │   ├── ForeignHost         the Host header names another host
│   │   ├── ForeignOrigin       a web page of another origin made the call
│   │   ├── NotFound            no such path
│   │   └── OracleOff           the server offers no oracle
│   ├── BadAgent                an agent that does not exist or does not fit the env
│   ├── ClientClosed            use after close
│   └── Unauthorized            missing or wrong token
├── SessionError                a session refused the call
│   ├── UnknownSession          never existed here
│   ├── SessionGone             closed, expired, worker_lost or recycled
│   ├── EpisodeOver             the episode has ended; reset or close
│   ├── ResetNeeded             step before the first reset
│   ├── StepConflict            the position in the call is not the session's
│   ├── RequestMismatch         the same position or key with another body
│   └── OracleDiverged          the oracle was asked after another action than its own
├── EnvFailed                   the environment broke; never scored, never trained on
├── EnvUnavailable              the plug-in of the environment cannot be imported
└── InfraError                  nobody's action: try again later
    ├── NoCapacity              every session slot is taken
    ├── ServerUnreachable       no server answers there
    └── TransportLost           a connection broke in the middle of a call

A class has a stable `code`, the HTTP `status` that carries it, and `retryable`: the same request again is safe and may
work. Extra fields travel in `extra`. The message names the thing, the value and the next action.
Adding one: subclass here, give it a code and a status, add it to the tree; `BY_CODE` finds it by itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar


class AgentEnvError(Exception):
    """Base of all; `code`, `status` and `retryable` describe its class."""

    code: ClassVar[str] = "internal_error"
    status: ClassVar[int] = 500
    retryable: ClassVar[bool] = False

    def __init__(self, message: str, /, **extra: Any) -> None:
        super().__init__(message)
        self.message = message
        self.extra = extra

    def __reduce__(self) -> tuple[Any, ...]:
        return (_rebuild, (type(self), self.message, self.extra))


def _rebuild(cls: type[AgentEnvError], message: str, extra: dict[str, Any]) -> AgentEnvError:
    return cls(message, **extra)


class BadCall(AgentEnvError, ValueError):
    """The call was wrong."""

    code, status = "bad_call", 422


class UnknownEnv(BadCall):
    """No environment of that id."""

    code, status = "unknown_env", 404


class UnknownTask(BadCall):
    """No such split, index or task id."""

    code, status = "unknown_task", 404


class UnknownOption(BadCall):
    """No such option, or a value that it does not take."""

    code, status = "unknown_option", 422


class BadRequest(BadCall):
    """The server could not read the request."""

    code, status = "bad_request", 422


class MalformedJson(BadRequest):
    """The body is not JSON."""

    code, status = "malformed_json", 400


class BodyTooLarge(BadRequest):
    """The body is over `limits.max_body_bytes`."""

    code, status = "body_too_large", 413


class NotJson(BadRequest):
    """The content type is not application/json."""

    code, status = "not_json", 415


class ForeignHost(BadRequest):
    """The Host header names another host than this server."""

    code, status = "foreign_host", 421


class ForeignOrigin(BadRequest):
    """A web page of another origin made the call."""

    code, status = "foreign_origin", 403


class NotFound(BadRequest):
    """No such path."""

    code, status = "not_found", 404


class OracleOff(BadRequest):
    """The oracle was asked of a server that does not offer it."""

    code, status = "oracle_off", 403


class BadAgent(BadCall):
    """No such agent, or one that does not fit the env."""

    code, status = "bad_agent", 422


class ClientClosed(BadCall):
    """Use after close."""

    code, status = "client_closed", 409


class Unauthorized(BadCall):
    """Missing or wrong token."""

    code, status = "unauthorized", 401


class SessionError(AgentEnvError):
    """A session refused the call."""


class UnknownSession(SessionError):
    """No session of that id was ever made here."""

    code, status = "unknown_session", 404


class SessionGone(SessionError):
    """The session has ended: `extra["reason"]` is closed, expired, worker_lost or recycled."""

    code, status = "session_gone", 410


class EpisodeOver(SessionError):
    """The episode has ended with `extra["outcome"]`; reset or close."""

    code, status = "episode_over", 409


class ResetNeeded(SessionError):
    """step() before reset()."""

    code, status = "reset_needed", 409


class StepConflict(SessionError):
    """The position in the call is not the session's; `extra` has the current `episode` and `step`."""

    code, status = "step_conflict", 409


class RequestMismatch(SessionError):
    """The same position or key came with another body."""

    code, status = "request_mismatch", 409


class OracleDiverged(SessionError):
    """The oracle was asked after another action than its own."""

    code, status = "oracle_diverged", 409


class EnvFailed(AgentEnvError):
    """The environment broke: it raised, overran its time, or returned what its card forbids."""

    code, status = "env_failed", 500


class EnvUnavailable(AgentEnvError):
    """The environment's plug-in cannot be imported."""

    code, status = "env_unavailable", 501


class InfraError(AgentEnvError):
    """Nobody's action; the same call may work later."""

    code, status, retryable = "infra_error", 503, True


class NoCapacity(InfraError):
    """Every session slot is taken."""

    code, status = "no_capacity", 503


class ServerUnreachable(InfraError):
    """No server answers there."""

    code, status = "server_unreachable", 503


class TransportLost(InfraError):
    """A connection broke in the middle of a call; whether the call arrived is not known."""

    code, status = "transport_lost", 503


class EpisodeCut(Exception):
    """Raised by an agent to end the running episode with `outcome` (context_full, agent_error, infra_lost)."""

    def __init__(self, outcome: str, detail: str = "") -> None:
        super().__init__(f"{outcome}: {detail}")
        self.outcome, self.detail = outcome, detail


def _tree(cls: type[AgentEnvError]) -> Iterator[type[AgentEnvError]]:
    yield cls
    for sub in cls.__subclasses__():
        yield from _tree(sub)


BY_CODE: dict[str, type[AgentEnvError]] = {cls.code: cls for cls in _tree(AgentEnvError) if "code" in vars(cls)}
BY_CODE["internal_error"] = AgentEnvError


@contextmanager
def boundary(error: type[AgentEnvError], what: str) -> Iterator[None]:
    """Attribute whatever escapes foreign code to one class; errors of this tree pass through unchanged."""
    try:
        yield
    except AgentEnvError:
        raise
    except Exception as exc:
        raise error(f"{what}: {type(exc).__name__}: {exc}") from exc
