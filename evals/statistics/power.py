"""What a suite can and cannot tell apart, before a run is paid for. Of scores nothing is known until two runs exist."""

from __future__ import annotations

from typing import Any

from agentenv.registry import get_spec
from evals.plan import world_of
from evals.statistics.pairs import MEAN_SCORE
from evals.statistics.planning import (
    DISCORDANCE,
    POWER,
    cannot_rank,
    detectable,
    effective_tasks,
    half_width,
)
from evals.suite import Suite


def suite_power(suite: Suite) -> dict[str, Any]:
    """Half-width and detectable difference of each env and of the whole, as JSON values."""
    tasks = {entry.name: world_of(get_spec(entry.env), entry).tasks for entry in suite.envs}
    whole = effective_tasks(list(tasks.values()))
    graded = suite.metric == MEAN_SCORE
    return {
        "suite": suite.name,
        "suite_hash": suite.hash,
        "title": suite.title,
        "attempts": suite.attempts,
        "metric": suite.metric,
        "envs": [{"env": env, "tasks": count, **_power(0 if graded else count)} for env, count in tasks.items()],
        "tasks": sum(tasks.values()),
        "effective_tasks": whole,
        **_power(0 if graded else whole),
        "cannot_rank": None if graded else cannot_rank(whole),
        "assumed_discordance": DISCORDANCE,
        "power": POWER,
    }


def _power(tasks: float) -> dict[str, float | None]:
    return {"half_width": half_width(tasks), "detectable": detectable(tasks)}
