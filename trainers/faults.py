"""Places where tests let a process die. Without `AGENTENV_KILL_AT` they cost one look at the environment."""

from __future__ import annotations

import os
import signal
from collections import Counter

KILL_AT = "AGENTENV_KILL_AT"
"""Name of a place, with `@N` for its Nth visit (else the first): the process ends there by SIGKILL."""

_visits: Counter[str] = Counter()


def fault_point(name: str) -> None:
    """End this process here when the environment says so; nothing is flushed, nothing is closed."""
    wanted = os.environ.get(KILL_AT)
    if wanted is None:
        return
    _visits[name] += 1
    place, _, visit = wanted.partition("@")
    if place == name and _visits[name] == int(visit or 1):
        os.kill(os.getpid(), signal.SIGKILL)
