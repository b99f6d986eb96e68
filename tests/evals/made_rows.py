"""Rows of runs as the store gives them, made without a store: what each agent's attempts came to, task by task."""

from collections.abc import Mapping, Sequence
from typing import Any

from evals.store.schema import RunRow, TaskRow

Counts = Sequence[tuple[int, int]]
"""`(successes, attempts)` by task."""


def world(env: str, tasks: int, **changes: Any) -> dict[str, Any]:
    return {
        "label": env, "env": env, "version": "1", "tasks_digest": "d", "split": "test", "options": {}, "max_steps": 9,
        "tasks": tasks, "world": f"agentenv-{env}-v1", **changes,
    }  # fmt: skip


def run_rows(
    agent: str,
    envs: Mapping[str, Counts] | Counts,
    *,
    id: str | None = None,
    attempts: int | None = None,
    lost: Mapping[int, int] | None = None,
    scores: Sequence[float] | None = None,
    category: str = "",
    tasks: int | None = None,
    changes: Mapping[str, Any] | None = None,
    **world_changes: Any,
) -> list[tuple[RunRow, TaskRow]]:
    """A run with its tasks; `lost` are attempts by task without a valid try, `tasks` what the suite has of each env."""
    by_env = envs if isinstance(envs, Mapping) else {"coin": envs}
    worlds = [world(env, tasks or len(counts), **world_changes) for env, counts in by_env.items()]
    most = attempts or max((n for counts in by_env.values() for _, n in counts), default=1)
    lost = lost or {}
    run = RunRow(
        **{
            "id": id or f"run-{agent}", "batch": "b", "created_at": "2026-01-01T00:00:00Z",
            "finished_at": "2026-01-01T01:00:00Z", "stopped": None, "suite": "s", "suite_hash": "5" * 64,
            "suite_source": "s", "suite_data": {"name": "s"}, "worlds": worlds, "world_hash": "3" * 64, "agent": agent,
            "agent_hash": f"hash-{agent}", "agent_data": {"name": agent}, "agent_settings": {"name": agent},
            "reference": False, "attempts": most, "first_attempt": 0, "task_limit": None,
            "planned": most * sum(map(len, by_env.values())), "software": {}, "servers": [], "seen": None,
            "deleted_at": None, "tries": 0, "valid": 0, "lost": 0, "reopened": 0, "journal": [],
            **(changes or {}),
        }
    )  # fmt: skip
    return [
        (
            run,
            TaskRow(
                run_id=run.id, position=i, env=env, task_id=f"{env}/test/{i}", task_env=env, split="test",
                task_index=i, category=category, difficulty=0, template="", digest=f"{env}{i}", planned=most, valid=n,
                success=c, lost=lost.get(i, 0), invalid_tries=3 * lost.get(i, 0), reward_sum=float(c),
                steps_sum=2 * n, success_steps_sum=2 * c, malformed_sum=0, seconds_sum=0.0, success_seconds_sum=0.0,
                tokens_sum=0, success_tokens_sum=0, told=0, cost_sum=0.0, priced=0,
                score_sum=scores[i] * n if scores else 0.0, scored=n if scores else 0,
            ),
        )
        for env, counts in by_env.items()
        for i, (c, n) in enumerate(counts)
    ]  # fmt: skip
