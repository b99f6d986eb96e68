"""How many turns an episode may have, over the run: few at first, more by stages.

A pure function of the step, so that a resumed run is at the same stage as one that never stopped.
"""

from __future__ import annotations

from trainers.config import EnvironmentSettings, RoundsSettings


def stage(step: int, rounds: RoundsSettings, env: EnvironmentSettings) -> int:
    """The stage of `step`, both counted from 1 and from 0: `every` steps each, and the last one for ever."""
    if step < 1:
        raise ValueError(f"steps are counted from 1, not {step}")
    if rounds.type == "fixed":
        return 0
    return min((step - 1) // rounds.every, len(_values(rounds, env)) - 1)


def turn_limit(step: int, rounds: RoundsSettings, env: EnvironmentSettings) -> int | None:
    """Turns that an episode of `env` may have in `step`; None leaves it to the environment."""
    values = _values(rounds, env)
    return values[stage(step, rounds, env)] if values else env.max_steps


def _values(rounds: RoundsSettings, env: EnvironmentSettings) -> list[int]:
    return env.rounds or rounds.values
