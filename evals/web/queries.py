"""What the pages ask the database, each question a function. The same SQL on SQLite and PostgreSQL, and only SELECT."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, func, select, tuple_
from sqlalchemy.orm import Session

from agentenv.trajectory import Trajectory
from evals.store.records import trajectory_of
from evals.store.schema import BlobRow, EpisodeRow, RunRow, SlotRow, TaskRow, TurnRow

CHUNK = 500
"""Parameters of one statement."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """Where an episode belongs."""

    id: int
    run: str
    slot: int
    try_: int
    attempt: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Brief:
    """A run in a listing."""

    id: str
    suite: str
    suite_hash: str
    agent: str
    created_at: str
    finished_at: str | None
    deleted_at: str | None
    stopped: str | None
    planned: int
    valid: int
    lost: int
    tries: int
    cost: float
    priced: int


_BRIEF = tuple(getattr(RunRow, name) for name in Brief.__dataclass_fields__)


def briefs(
    connection: Connection, *, suite: str | None = None, before: tuple[str, str] | None = None, limit: int
) -> list[Brief]:
    """Runs, newest first; `before` is the `(created_at, id)` of the last one on the page before."""
    query = select(*_BRIEF).order_by(RunRow.created_at.desc(), RunRow.id.desc()).limit(limit)
    if suite is not None:
        query = query.where(RunRow.suite == suite)
    if before is not None:
        query = query.where(tuple_(RunRow.created_at, RunRow.id) < tuple_(*before))
    return [Brief(**row._mapping) for row in connection.execute(query)]


def suites(connection: Connection) -> list[str]:
    """The suites that have a run."""
    return list(connection.scalars(select(RunRow.suite).distinct().order_by(RunRow.suite)))


def brief(connection: Connection, run: str) -> Brief:
    """One run, which exists."""
    return Brief(**connection.execute(select(*_BRIEF).where(RunRow.id == run)).one()._mapping)


def state(connection: Connection, run: str) -> tuple[Any, ...]:
    """`(tries, reopened, deleted_at)`: what changes with the episodes of a run."""
    query = select(RunRow.tries, RunRow.reopened, RunRow.deleted_at).where(RunRow.id == run)
    return tuple(connection.execute(query).one())


def plan(connection: Connection, run: str) -> tuple[list[tuple[Any, ...]], list[tuple[int, int, int]]]:
    """`(position, env, task_id, category, difficulty)` of each task; `(slot, position, attempt)` of each slot."""
    tasks = select(TaskRow.position, TaskRow.env, TaskRow.task_id, TaskRow.category, TaskRow.difficulty)
    slots = select(SlotRow.slot, SlotRow.position, SlotRow.attempt)
    return (
        [tuple(row) for row in connection.execute(tasks.where(TaskRow.run_id == run))],
        [
            (slot, position, attempt)
            for slot, position, attempt in connection.execute(slots.where(SlotRow.run_id == run))
        ],
    )


def tries(connection: Connection, run: str, *, after: int = 0) -> list[tuple[Any, ...]]:
    """`(id, slot, try, outcome, valid, success, superseded, steps, malformed, reward)` of the episodes of a run, in no
    order; of those written after the episode `after`."""
    e = EpisodeRow
    query = select(e.id, e.slot, e.try_, e.outcome, e.valid, e.success, e.superseded, e.steps, e.malformed, e.reward)
    if after:  # few: found by their ids, and not by all entries of the run in its index
        query = query.where(e.id > after, e.run_id.concat("") == run)
    else:
        query = query.where(e.run_id == run)
    return [tuple(row) for row in connection.execute(query).all()]


def turn_texts(connection: Connection, episodes: Sequence[int]) -> dict[int, list[Mapping[str, Any]]]:
    """`observation` (None where it is long), `blob`, `action`, `malformed` and `extra` of the turns, by episode."""
    found: dict[int, list[Mapping[str, Any]]] = {id_: [] for id_ in episodes}
    for some in chunks(episodes):
        for row in connection.execute(_turns().where(TurnRow.episode_id.in_(some))):
            found[row.episode_id].append(dict(row._mapping))
    return found


def _turns() -> Any:
    t = TurnRow
    return (
        select(t.episode_id, t.number, t.observation, BlobRow.data.label("blob"), t.action, t.malformed, t.extra)
        .outerjoin(BlobRow, BlobRow.sha256 == t.observation_blob)
        .order_by(t.episode_id, t.number)
    )


def errors(connection: Connection, episodes: Sequence[int]) -> dict[int, str]:
    """What went wrong, of the episodes that say."""
    query = select(EpisodeRow.id, EpisodeRow.error)
    return {
        id_: error
        for some in chunks(episodes)
        for id_, error in connection.execute(query.where(EpisodeRow.id.in_(some)))
        if error is not None
    }


def final_observations(connection: Connection, episodes: Sequence[int]) -> dict[int, str]:
    """What the last step of each episode showed."""
    query = select(EpisodeRow.id, EpisodeRow.record)
    return {
        id_: str(record.get("final_observation", ""))
        for some in chunks(episodes)
        for id_, record in connection.execute(query.where(EpisodeRow.id.in_(some)))
    }


def episode(connection: Connection, id_: int) -> tuple[Key, TaskRow, Trajectory, EpisodeRow] | None:
    """One episode whole, with its task and its place."""
    query = (
        select(EpisodeRow, TaskRow, SlotRow.attempt)
        .join(SlotRow, (SlotRow.run_id == EpisodeRow.run_id) & (SlotRow.slot == EpisodeRow.slot))
        .join(TaskRow, (TaskRow.run_id == SlotRow.run_id) & (TaskRow.position == SlotRow.position))
        .where(EpisodeRow.id == id_)
    )
    turns = (
        select(TurnRow, BlobRow.data)
        .outerjoin(BlobRow, BlobRow.sha256 == TurnRow.observation_blob)
        .where(TurnRow.episode_id == id_)
        .order_by(TurnRow.number)
    )
    with Session(connection, expire_on_commit=False) as session:
        row = session.execute(query).first()
        if row is None:
            return None
        found, task, attempt = row
        whole = trajectory_of(task, found, [(turn, data) for turn, data in session.execute(turns)])
        session.expunge_all()
    key = Key(id=id_, run=found.run_id, slot=found.slot, try_=found.try_, attempt=attempt)
    return key, task, whole, found


def spending(connection: Connection, run: str) -> dict[str, tuple[float, int, int, int]]:
    """`(cost, episodes of known cost, tokens, episodes of known tokens)` of a run's valid attempts, by env."""
    sums = (TaskRow.cost_sum, TaskRow.priced, TaskRow.tokens_sum, TaskRow.told)
    query = (
        select(TaskRow.env, *(func.sum(column) for column in sums)).where(TaskRow.run_id == run).group_by(TaskRow.env)
    )
    rows: list[Any] = list(connection.execute(query))
    return {env: (float(cost), int(priced), int(tokens), int(told)) for env, cost, priced, tokens, told in rows}


def chunks(items: Sequence[int]) -> list[Sequence[int]]:
    """Parts that one statement takes."""
    return [items[start : start + CHUNK] for start in range(0, len(items), CHUNK)]
