"""The rows of a run before its first episode: itself, its tasks in order of play, and a slot for each attempt."""

from __future__ import annotations

import datetime
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import Connection, func, insert, select

from agentenv.protocol import digest_of
from evals.plan import Plan
from evals.store.schema import RunRow, SlotRow, TaskRow
from evals.suite import Suite


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRun:
    """A run as it is written down before its first episode."""

    id: str
    batch: str
    suite: Suite
    plan: Plan
    task_limit: int | None
    agent: str
    agent_data: dict[str, Any]
    agent_settings: dict[str, Any]
    reference: bool
    software: dict[str, Any]
    seen: dict[str, int] | None = None
    """Tasks of the plan that the agent was trained on, by env; None where nobody said."""


def add_plan(connection: Connection, run: NewRun) -> None:
    """Write the run down.

    Attempts are numbered on from earlier runs that will be pooled with it: a seeded agent must not play the same
    episodes twice and call them further attempts.
    """
    values = _run_values(run)
    first = _attempts_so_far(connection, values)
    connection.execute(insert(RunRow), [{**values, "first_attempt": first}])
    connection.execute(insert(TaskRow), task_values(run))
    connection.execute(insert(SlotRow), _slot_values(run, first))


def utc_now() -> str:
    """Now, in UTC, to the microsecond."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def world_hash(plan: Plan) -> str:
    """Over what the envs were: scores under equal hashes compare."""
    return digest_of([asdict(world) for world in plan.worlds])


def run_hashes(run: NewRun) -> dict[str, str]:
    """What runs have in common that are pooled, by column."""
    return {
        "suite_hash": run.suite.hash,
        "world_hash": world_hash(run.plan),
        "agent_hash": digest_of(run.agent_data),
    }


def _run_values(run: NewRun) -> dict[str, Any]:
    return {
        **run_hashes(run),
        "id": run.id,
        "batch": run.batch,
        "created_at": utc_now(),
        "suite": run.suite.name,
        "suite_source": run.suite.source,
        "suite_data": run.suite.to_json(),
        "worlds": [asdict(world) for world in run.plan.worlds],
        "agent": run.agent,
        "agent_data": run.agent_data,
        "agent_settings": run.agent_settings,
        "reference": run.reference,
        "attempts": run.plan.attempts,
        "task_limit": run.task_limit,
        "planned": run.plan.slots,
        "software": run.software,
        "servers": [],
        "seen": run.seen,
    }


def _attempts_so_far(connection: Connection, run: dict[str, Any]) -> int:
    """The number of the first attempt that no earlier run of this agent on this suite has had."""
    same = [getattr(RunRow, name) == run[name] for name in ("agent_hash", "suite_hash", "world_hash")]
    last = connection.execute(select(func.max(RunRow.first_attempt + RunRow.attempts)).where(*same)).scalar()
    return last or 0


def task_values(run: NewRun) -> list[dict[str, Any]]:
    """The rows of `tasks`."""
    return [
        {
            "run_id": run.id,
            "position": position,
            "env": planned.label,
            "task_id": planned.task.id,
            "task_env": planned.task.env,
            "split": planned.task.split,
            "task_index": planned.task.index,
            "category": planned.task.category,
            "difficulty": planned.task.difficulty,
            "template": planned.task.template,
            "digest": planned.task.digest,
            "planned": run.plan.attempts,
        }
        for position, planned in enumerate(run.plan.tasks)
    ]


def _slot_values(run: NewRun, first: int) -> list[dict[str, Any]]:
    tasks = len(run.plan.tasks)
    return [
        {"run_id": run.id, "slot": slot, "position": slot % tasks, "attempt": first + slot // tasks}
        for slot in range(run.plan.slots)
    ]
