"""Runs whose plan grows with what is played: those of people, who choose their tasks one by one.

Such a run counts as finished between two episodes, so that no command takes it for one that was left open.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from sqlalchemy import Connection, Engine, func, insert, select, update

from evals.people import HINTED, HUMAN
from evals.store.database import PLANNING, one_at_a_time, reading, writing
from evals.store.plans import NewRun, add_plan, run_hashes, task_values, utc_now
from evals.store.schema import EpisodeRow, RunRow, SlotRow, TaskRow


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """The attempt that an episode of a person belongs to."""

    run: str
    slot: int
    tries: int
    """How many it has had; the next one's number."""


def place_for(engine: Engine, new: NewRun, *, name: str) -> Place | None:
    """The open attempt of this person at the one task of `new.plan`; its run and task are added where they are
    missing. None when the attempt is settled: nobody plays a task for the first time twice.
    """
    [planned] = new.plan.tasks
    with writing(engine) as connection:
        one_at_a_time(connection, PLANNING)
        run = _run_of(connection, new, name)
        if run is None:
            add_plan(connection, new)
            connection.execute(update(RunRow).where(RunRow.id == new.id).values(finished_at=utc_now()))
            return Place(run=new.id, slot=0, tries=0)
        mine = SlotRow.run_id == run
        same = (TaskRow.run_id == run) & (TaskRow.env == planned.label) & (TaskRow.task_id == planned.task.id)
        query = select(SlotRow.slot, SlotRow.tries, SlotRow.state).where(mine)
        found = connection.execute(
            query.join(TaskRow, (TaskRow.run_id == SlotRow.run_id) & (TaskRow.position == SlotRow.position)).where(same)
        ).first()
        touched = update(RunRow).where(RunRow.id == run).values(finished_at=utc_now())
        if found is None:
            slot = _add_task(connection, replace(new, id=run))
            connection.execute(touched.values(planned=RunRow.planned + 1))
            return Place(run=run, slot=slot, tries=0)
        connection.execute(touched)
        return Place(run=run, slot=found.slot, tries=found.tries) if found.state == "open" else None


def _add_task(connection: Connection, new: NewRun) -> int:
    """The next task of a run that is there, with its one slot, whose number is returned."""
    last = select(func.max(SlotRow.slot)).where(SlotRow.run_id == new.id)
    position = connection.execute(last).scalar_one() + 1
    first = connection.execute(select(RunRow.first_attempt).where(RunRow.id == new.id)).scalar_one()
    [values] = task_values(new)
    connection.execute(insert(TaskRow), [{**values, "position": position}])
    slot = {"run_id": new.id, "slot": position, "position": position, "attempt": first}
    connection.execute(insert(SlotRow), [slot])
    return int(position)


def _run_of(connection: Connection, new: NewRun, name: str) -> str | None:
    """This person's run in the same suite and world, if there is one."""
    same = [getattr(RunRow, column) == value for column, value in run_hashes(new).items()]
    query = select(RunRow.id, RunRow.agent_settings).where(*same, RunRow.deleted_at.is_(None))
    for run, settings in connection.execute(query.order_by(RunRow.created_at, RunRow.id)):
        if settings.get("pseudonym") == name:
            return str(run)
    return None


def known_tasks(engine: Engine, name: str) -> frozenset[str]:
    """Digests of the tasks that this person has settled, in any suite, with hints or without."""
    people = select(RunRow.id, RunRow.agent_settings).where(RunRow.agent.in_((HUMAN, HINTED)))
    with reading(engine) as connection:
        runs = [run for run, settings in connection.execute(people) if settings.get("pseudonym") == name]
        query = (
            select(TaskRow.digest)
            .join(SlotRow, (SlotRow.run_id == TaskRow.run_id) & (SlotRow.position == TaskRow.position))
            .where(TaskRow.run_id.in_(runs), SlotRow.state != "open")
        )
        return frozenset(connection.scalars(query))


def plays_of(engine: Engine, suite_hash: str) -> Callable[[str, str], int]:
    """How often people have played the task of `(env, task id)` of a suite validly."""
    query = (
        select(TaskRow.env, TaskRow.task_id, func.sum(TaskRow.valid))
        .join(RunRow, RunRow.id == TaskRow.run_id)
        .where(RunRow.suite_hash == suite_hash, RunRow.agent.in_((HUMAN, HINTED)))
        .group_by(TaskRow.env, TaskRow.task_id)
    )
    with reading(engine) as connection:
        counts = {(env, task): int(count) for env, task, count in connection.execute(query)}
    return lambda env, task: counts.get((env, task), 0)


def episode_at(engine: Engine, place: Place) -> int:
    """The id of the episode that was stored there."""
    e = EpisodeRow
    query = select(e.id).where(e.run_id == place.run, e.slot == place.slot, e.try_ == place.tries)
    with reading(engine) as connection:
        return int(connection.execute(query).scalar_one())
