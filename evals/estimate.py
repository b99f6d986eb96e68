"""What a plan will take, from the same agent's earlier episodes of the same envs; what nobody knows is None."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from evals.plan import Plan
from evals.store.database import configured_url, is_sqlite
from evals.store.store import Means, Store


def estimates(plan: Plan, agents: Sequence[str], *, concurrency: int) -> list[dict[str, Any]]:
    """Episodes, tokens, cost and seconds of each agent. Reads the database where there is one, and makes none."""
    episodes = Counter(planned.task.env for planned in plan.tasks)
    episodes = Counter({env: count * plan.attempts for env, count in episodes.items()})
    found = _earlier(agents)
    return [_estimate(agent, episodes, found.get(agent, {}), concurrency) for agent in agents]


def _earlier(agents: Sequence[str]) -> dict[str, dict[str, Means]]:
    url = configured_url()
    if is_sqlite(url) and not Path(url.database or "").exists():
        return {}
    with Store.open(url) as store:
        return {agent: store.means(agent) for agent in agents}


def _estimate(agent: str, episodes: Mapping[str, int], means: Mapping[str, Means], concurrency: int) -> dict[str, Any]:
    at_once = min(concurrency, sum(episodes.values()))
    seconds = _total(episodes, {env: mean.seconds for env, mean in means.items()})
    return {
        "agent": agent,
        "episodes": sum(episodes.values()),
        "tokens": _total(episodes, {env: mean.tokens for env, mean in means.items()}),
        "cost": _total(episodes, {env: mean.cost for env, mean in means.items()}),
        "seconds": None if seconds is None else seconds / at_once,
    }


def _total(episodes: Mapping[str, int], means: Mapping[str, float | None]) -> float | None:
    """The sum over envs; None where the mean of one is unknown."""
    total = 0.0
    for env, count in episodes.items():
        mean = means.get(env)
        if mean is None:
            return None
        total += count * mean
    return total
