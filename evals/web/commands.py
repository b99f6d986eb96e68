"""A command that plays an episode's actions again, to copy into a shell."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from agentenv.trajectory import Trajectory
from evals.web.texts import typeable

LONGEST = 4000
"""Characters of a command that is offered."""


def replaying(run: str, episode: Trajectory) -> str:
    """`agentenv play` with the actions as its input; where that cannot carry them, the verification of the run.

    What a model wrote comes to a person's shell: it is quoted, and offered only if every character is printable.
    """
    verify = shlex.join(["agentenv", "eval", "verify", run])
    words = ["agentenv", "play", episode.env, "--task", episode.task.id]
    words += ["--max-steps", str(episode.max_steps)] if episode.max_steps else []
    for option in _options(episode.env_options):
        words += ["--env-option", option]
    if not all(_one_line(turn.action) and turn.malformed is None for turn in episode.turns):
        return verify
    lines = [turn.action for turn in episode.turns]
    command = f"printf '%s\\n' {shlex.join(lines)} | {shlex.join(words)}" if lines else shlex.join(words)
    return command if typeable(command) and len(command) <= LONGEST else verify


def _one_line(action: str) -> bool:
    """Whether `agentenv play` reads it as it is: it strips its lines, skips blank ones, and answers `?` itself."""
    return typeable(action) and action == action.strip() and action not in ("", "?")


def _options(options: Mapping[str, Any]) -> list[str]:
    return [f"{name}={value}" for name, value in options.items() if value is not None]
