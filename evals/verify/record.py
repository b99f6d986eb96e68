"""A whole run as data, from a store or a bundle: what was to be measured, and every try that was written down."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agentenv.errors import BadCall
from agentenv.protocol import TaskRef
from agentenv.trajectory import Trajectory

if TYPE_CHECKING:
    from evals.store.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class Try:
    """One episode of a slot."""

    slot: int
    number: int
    """From 0; a slot is tried again while it is invalid."""
    superseded: bool
    """A command opened its slot again: it no longer counts."""
    trajectory: Trajectory


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """A task of the plan, by position, with what its row claims."""

    label: str
    """The suite's name for its env."""
    task: TaskRef
    valid: int
    success: int
    lost: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecord:
    """One agent on one suite."""

    id: str
    suite: Mapping[str, Any]
    """As `evals.suite.parse` reads it."""
    suite_hash: str
    worlds: Sequence[Mapping[str, Any]]
    """Env, version, tasks digest, options and limit of each entry of the suite."""
    attempts: int
    task_limit: int | None
    finished: bool
    agent: str
    agent_data: Mapping[str, Any]
    software: Mapping[str, Any]
    plan: Sequence[Planned]
    """In order of play; slot `attempt * len(plan) + position` is an attempt at that task."""
    tries: Sequence[Try]
    """By slot and number."""

    def head(self) -> dict[str, Any]:
        """All but plan and tries, as JSON values."""
        return {
            name: getattr(self, name)
            for name in ("id", "suite_hash", "attempts", "task_limit", "finished", "agent", "agent_data", "software")
        }


def from_store(store: Store, run: str) -> RunRecord:
    """The run of an id, with every try; BadCall for one whose episodes were deleted."""
    from evals.store.records import task_ref

    row = store.run(run)
    if row.deleted_at is not None:
        raise BadCall(
            f"run {row.id} was deleted at {row.deleted_at[:19]}: its counters are left, and no episodes to play"
        )
    places = ((e.slot, e.try_, e.superseded) for e in store.episodes(row.id))
    return RunRecord(
        id=row.id,
        suite=row.suite_data,
        suite_hash=row.suite_hash,
        worlds=row.worlds,
        attempts=row.attempts,
        task_limit=row.task_limit,
        finished=row.finished_at is not None,
        agent=row.agent,
        agent_data=row.agent_data,
        software=row.software,
        plan=[
            Planned(label=task.env, task=task_ref(task), valid=task.valid, success=task.success, lost=task.lost)
            for _, task in store.tasks(run=row.id)
        ],
        tries=[
            Try(slot=slot, number=number, superseded=superseded, trajectory=trajectory)
            for (slot, number, superseded), trajectory in zip(places, store.trajectories(row.id), strict=True)
        ],
    )
