"""What is asked of the database, each question a method. All SQL but the tables' own is here.

An episode is one transaction: its row, its turns, the slot and the task's counters change together or not at all.
"""

from __future__ import annotations

import datetime
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any, cast

from sqlalchemy import Connection, Engine, func, insert, select, text, update
from sqlalchemy.engine import URL
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from agentenv.errors import BadCall
from agentenv.protocol import TaskRef, digest_of
from agentenv.trajectory import Trajectory
from evals.plan import MAX_TRIES, Plan
from evals.store.database import configured_url, open_database, reading, where, writing
from evals.store.records import episode_values, task_ref, trajectory_of, turn_values
from evals.store.schema import BlobRow, EpisodeRow, RunRow, SlotRow, TaskRow, TurnRow
from evals.suite import Suite


class UnknownRun(BadCall):
    """No run of that id, or several that begin with it."""

    code, status = "unknown_run", 404


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


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenSlot:
    """An attempt that has no valid episode yet."""

    run: str
    slot: int
    attempt: int
    tries: int
    """How many it has had; the next one's number."""
    env: str
    """The suite's name for it."""
    task: TaskRef


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a run is, in slots."""

    planned: int
    valid: int
    lost: int

    @property
    def done(self) -> int:
        """Slots that will not be played again."""
        return self.valid + self.lost


class Store:
    """One database. Open it with a `with`; threads may share it, processes open their own."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @classmethod
    def open(cls, url: URL | None = None) -> Store:
        """The database at `url`, else at `AGENTENV_DB`, else under `AGENTENV_HOME`; made where there is none."""
        return cls(open_database(url or configured_url()))

    @property
    def name(self) -> str:
        """The file, or the URL without its password."""
        return where(self._engine.url)

    def close(self) -> None:
        """Free the connections."""
        self._engine.dispose()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # writing

    def add_runs(self, runs: Sequence[NewRun]) -> None:
        """Write the runs with their whole plans, all or none.

        Attempts are numbered on from earlier runs that will be pooled with these: a seeded agent must not play the
        same episodes twice and call them further attempts.
        """
        with writing(self._engine) as connection:
            for run in runs:
                values = _run_values(run)
                first = _attempts_so_far(connection, values)
                connection.execute(insert(RunRow), [{**values, "first_attempt": first}])
                connection.execute(insert(TaskRow), _task_values(run))
                connection.execute(insert(SlotRow), _slot_values(run, first))

    def record(self, run: str, slot: int, try_: int, trajectory: Trajectory) -> bool:
        """Write one episode; False, and nothing is written, when somebody else has settled that try already."""
        with writing(self._engine) as connection, Session(connection, expire_on_commit=False) as session:
            row = session.get_one(SlotRow, (run, slot), with_for_update=True)
            if row.state != "open" or row.tries != try_:
                return False
            episode = EpisodeRow(run_id=run, slot=slot, try_=try_, finished_at=utc_now(), **episode_values(trajectory))
            session.add(episode)
            session.flush()
            _add_turns(connection, episode.id, trajectory)
            lost = not episode.valid and try_ + 1 >= MAX_TRIES
            state = "valid" if episode.valid else "lost" if lost else "open"
            row.state, row.tries = state, try_ + 1
            session.flush()
            session.execute(
                update(TaskRow)
                .where(TaskRow.run_id == run, TaskRow.position == row.position)
                .values(_added(trajectory, episode, lost=lost))
                .execution_options(synchronize_session=False)
            )
        return True

    def start_sitting(self, run: str, servers: Sequence[str]) -> None:
        """Note that the run is being played, and where."""
        self._update_run(run, stopped=None, servers=list(servers))

    def stop(self, run: str, reason: str) -> None:
        """Note why a sitting ended early."""
        self._update_run(run, stopped=reason)

    def finish(self, run: str) -> bool:
        """Note the end of a run whose slots are all settled; False when some are still open."""
        with writing(self._engine) as connection:
            open_ = select(SlotRow.slot).where(SlotRow.run_id == run, SlotRow.state == "open").limit(1)
            if connection.execute(open_).first() is not None:
                return False
            connection.execute(
                update(RunRow).where(RunRow.id == run, RunRow.finished_at.is_(None)).values(finished_at=utc_now())
            )
        return True

    def _update_run(self, run: str, **values: Any) -> None:
        with writing(self._engine) as connection:
            connection.execute(update(RunRow).where(RunRow.id == run).values(**values))

    # questions

    def run(self, wanted: str) -> RunRow:
        """The run of an id, or of the beginning of exactly one."""
        with self._session() as session:
            exact = session.get(RunRow, wanted)
            if exact is not None:
                return exact
            prefix = wanted.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
            query = select(RunRow).where(RunRow.id.like(prefix + "%", escape="\\")).order_by(RunRow.id).limit(4)
            found = session.scalars(query).all()
        if len(found) == 1 and wanted:
            return found[0]
        names = ", ".join(row.id for row in found)
        hint = f"; several begin so: {names}" if found and wanted else "; `agentenv eval list` shows all"
        raise UnknownRun(f"no run {wanted!r} in {self.name}{hint}")

    def runs(self, *, suite: str | None = None) -> list[RunRow]:
        """All runs, or those on one suite, newest first."""
        query = select(RunRow).order_by(RunRow.created_at.desc(), RunRow.id)
        with self._session() as session:
            return list(session.scalars(query if suite is None else query.where(RunRow.suite == suite)))

    def unfinished(self, batch: str | None = None) -> list[RunRow]:
        """The open runs of a batch, else of the latest batch that has one, in the order of the command's agents."""
        query = select(RunRow).where(RunRow.finished_at.is_(None)).order_by(RunRow.created_at.desc(), RunRow.id)
        with self._session() as session:
            rows = list(session.scalars(query if batch is None else query.where(RunRow.batch == batch)))
        return [row for row in rows if row.batch == rows[0].batch][::-1]

    def progress(self, run: str) -> Progress:
        """How far a run is."""
        query = select(SlotRow.state, func.count().label("slots")).where(SlotRow.run_id == run).group_by(SlotRow.state)
        with reading(self._engine) as connection:
            counts: dict[str, int] = {row.state: row.slots for row in connection.execute(query)}
        return Progress(planned=sum(counts.values()), valid=counts.get("valid", 0), lost=counts.get("lost", 0))

    def open_slots(self, run: str) -> list[OpenSlot]:
        """What is still to be played, in order."""
        query = (
            select(SlotRow, TaskRow)
            .join(TaskRow, (TaskRow.run_id == SlotRow.run_id) & (TaskRow.position == SlotRow.position))
            .where(SlotRow.run_id == run, SlotRow.state == "open")
            .order_by(SlotRow.tries, SlotRow.slot)
        )
        with self._session() as session:
            return [
                OpenSlot(
                    run=run, slot=s.slot, attempt=s.attempt, tries=s.tries, env=task.env, task=task_ref(task)
                )
                for s, task in session.execute(query)
            ]  # fmt: skip

    def tasks(self, *, suite: str | None = None, run: str | None = None) -> list[tuple[RunRow, TaskRow]]:
        """Every task with its counters beside its run; of one suite, of one run, or all."""
        query = select(RunRow, TaskRow).join(TaskRow, TaskRow.run_id == RunRow.id)
        query = query.order_by(RunRow.created_at, RunRow.id, TaskRow.position)
        if suite is not None:
            query = query.where(RunRow.suite == suite)
        if run is not None:
            query = query.where(RunRow.id == run)
        with self._session() as session:
            return [(owner, task) for owner, task in session.execute(query)]

    def outcomes(self, run: str) -> list[tuple[str, str, int]]:
        """How often each outcome came up, as `(env, outcome, count)`; every try counts."""
        query = text(
            "SELECT env, outcome, COUNT(*) FROM v_episodes WHERE run_id = :run"
            " GROUP BY env, outcome ORDER BY env, outcome"
        )
        with reading(self._engine) as connection:
            return [(env, outcome, count) for env, outcome, count in connection.execute(query, {"run": run})]

    def breaking_tasks(self, run: str) -> list[tuple[str, str]]:
        """`(task, error)` of the slots on which all tries ended in the same `env_error`."""
        query = text(
            "SELECT v.task_id, MIN(v.error) FROM v_episodes v"
            " JOIN slots s ON s.run_id = v.run_id AND s.slot = v.slot AND s.state = 'lost'"
            " WHERE v.run_id = :run GROUP BY v.task_id, v.slot"
            " HAVING MIN(v.outcome) = 'env_error' AND MAX(v.outcome) = 'env_error'"
            " AND COUNT(DISTINCT COALESCE(v.error, '')) = 1 ORDER BY v.slot"
        )
        with reading(self._engine) as connection:
            return [(task, error or "") for task, error in connection.execute(query, {"run": run})]

    def episodes(self, run: str) -> list[EpisodeRow]:
        """Every try of a run, by slot and try."""
        query = select(EpisodeRow).where(EpisodeRow.run_id == run).order_by(EpisodeRow.slot, EpisodeRow.try_)
        with self._session() as session:
            return list(session.scalars(query))

    def trajectories(self, run: str) -> Iterator[Trajectory]:
        """Every try of a run as the record that trainers and viewers share, by slot and try."""
        query = (
            select(EpisodeRow, TaskRow)
            .join(SlotRow, (SlotRow.run_id == EpisodeRow.run_id) & (SlotRow.slot == EpisodeRow.slot))
            .join(TaskRow, (TaskRow.run_id == SlotRow.run_id) & (TaskRow.position == SlotRow.position))
            .where(EpisodeRow.run_id == run)
            .order_by(EpisodeRow.slot, EpisodeRow.try_)
        )
        with self._session() as session:
            for episode, task in session.execute(query):
                turns = (
                    select(TurnRow, BlobRow.data)
                    .outerjoin(BlobRow, BlobRow.sha256 == TurnRow.observation_blob)
                    .where(TurnRow.episode_id == episode.id)
                    .order_by(TurnRow.number)
                )
                rows = [(turn, data) for turn, data in session.execute(turns)]
                yield trajectory_of(task, episode, rows)

    @contextmanager
    def _session(self) -> Iterator[Session]:
        with reading(self._engine) as connection, Session(connection, expire_on_commit=False) as session:
            yield session


def utc_now() -> str:
    """Now, in UTC, to the microsecond."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def world_hash(plan: Plan) -> str:
    """Over what the envs were: scores under equal hashes compare."""
    return digest_of([asdict(world) for world in plan.worlds])


def _run_values(run: NewRun) -> dict[str, Any]:
    return {
        "id": run.id,
        "batch": run.batch,
        "created_at": utc_now(),
        "suite": run.suite.name,
        "suite_hash": run.suite.hash,
        "suite_source": run.suite.source,
        "suite_data": run.suite.to_json(),
        "worlds": [asdict(world) for world in run.plan.worlds],
        "world_hash": world_hash(run.plan),
        "agent": run.agent,
        "agent_hash": digest_of(run.agent_data),
        "agent_data": run.agent_data,
        "agent_settings": run.agent_settings,
        "reference": run.reference,
        "attempts": run.plan.attempts,
        "task_limit": run.task_limit,
        "planned": run.plan.slots,
        "software": run.software,
        "servers": [],
    }


def _attempts_so_far(connection: Connection, run: dict[str, Any]) -> int:
    """The number of the first attempt that no earlier run of this agent on this suite has had."""
    same = [getattr(RunRow, name) == run[name] for name in ("agent_hash", "suite_hash", "world_hash")]
    last = connection.execute(select(func.max(RunRow.first_attempt + RunRow.attempts)).where(*same)).scalar()
    return last or 0


def _task_values(run: NewRun) -> list[dict[str, Any]]:
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


def _add_turns(connection: Connection, episode: int, trajectory: Trajectory) -> None:
    rows = []
    for number, turn in enumerate(trajectory.turns):
        values, long = turn_values(turn)
        if long is not None:
            _add_blob(connection, values["observation_blob"], long)
        rows.append({"episode_id": episode, "number": number, **values})
    if rows:
        connection.execute(insert(TurnRow), rows)


def _add_blob(connection: Connection, sha256: str, data: bytes) -> None:
    if connection.execute(select(BlobRow.sha256).where(BlobRow.sha256 == sha256)).first() is not None:
        return
    try:
        with connection.begin_nested():
            connection.execute(insert(BlobRow), [{"sha256": sha256, "data": zlib.compress(data)}])
    except IntegrityError:  # another writer had the same text, on a database that lets two write at once
        pass


def _added(trajectory: Trajectory, episode: EpisodeRow, *, lost: bool) -> dict[Any, Any]:
    """What an episode changes in its task's counters."""
    if not episode.valid:
        return {TaskRow.invalid_tries: TaskRow.invalid_tries + 1, TaskRow.lost: TaskRow.lost + int(lost)}
    added = {
        TaskRow.valid: 1,
        TaskRow.success: int(episode.success),
        TaskRow.reward_sum: episode.reward,
        TaskRow.steps_sum: episode.steps,
        TaskRow.success_steps_sum: episode.steps if episode.success else 0,
        TaskRow.malformed_sum: episode.malformed,
        TaskRow.seconds_sum: trajectory.time.get("total_s", 0.0),
        TaskRow.score_sum: episode.score or 0.0,
        TaskRow.scored: int(episode.score is not None),
    }
    return {column: cast(Any, column) + value for column, value in added.items()}
