"""What one server allows; each session gets a copy, narrowed by its env's card."""

from __future__ import annotations

from dataclasses import dataclass

from agentenv.registry import EnvSpec
from agentenv.wire import LimitsBody


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerLimits:
    """Bounds on what clients may use."""

    max_sessions: int = 1024
    lease_s: float = 600.0
    """Seconds that a session may idle before it is closed."""
    max_action_bytes: int = 64 * 1024
    """A longer action counts as a malformed one."""
    max_observation_bytes: int = 1024 * 1024
    """A longer observation is cut with a marker and `info.cut`."""
    max_info_bytes: int = 64 * 1024
    max_body_bytes: int = 8 * 1024 * 1024
    max_batch: int = 1024
    max_inflight: int = 1024
    """Calls under way on one socket; over it the socket is not read."""
    keep_s: float = 600.0
    """Seconds that an ended session's final result and key are kept."""
    grace_s: float = 3.0
    """Seconds that calls under way may still take when the table closes."""

    def for_session(self, spec: EnvSpec, max_steps: int) -> LimitsBody:
        """The limits that a session tells its client."""
        return LimitsBody(
            reset_s=spec.reset_s,
            step_s=spec.step_s,
            episode_s=spec.episode_s,
            lease_s=self.lease_s,
            max_steps=max_steps,
            max_action_bytes=self.max_action_bytes,
            max_observation_bytes=self.max_observation_bytes,
            max_body_bytes=self.max_body_bytes,
            max_batch=self.max_batch,
            max_inflight=self.max_inflight,
        )
