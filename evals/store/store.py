"""What is asked of the database, each question a method.

An episode is one transaction: its row, its turns, the slot and the counters of task and run change together or not at
all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Double, Engine, cast, func, select, text, update
from sqlalchemy.engine import URL
from sqlalchemy.orm import Session

from agentenv.errors import BadCall
from agentenv.protocol import TaskRef
from agentenv.trajectory import Trajectory
from evals.plan import MAX_TRIES
from evals.store.asking import ROWS, Asked, ask
from evals.store.byhand import chunks, delete_episodes, reopen
from evals.store.database import (
    PLANNING,
    configured_url,
    is_sqlite,
    one_at_a_time,
    open_database,
    reading,
    where,
    writing,
)
from evals.store.episodes import Written, dialect_insert
from evals.store.pictures import pictures_in
from evals.store.plans import NewRun, add_plan, utc_now
from evals.store.records import task_ref, trajectory_of
from evals.store.schema import BlobRow, DerivedRow, EpisodeRow, RunRow, SlotRow, TaskRow, TurnRow
from evals.store.view import View


class UnknownRun(BadCall):
    """No run of that id, or several that begin with it."""

    code, status = "unknown_run", 404


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenSlot:
    """An attempt that has no valid episode yet."""

    run: str
    slot: int
    attempt: int
    tries: int
    """How many it has had; the next one's number."""
    left: int
    """Tries that it may still have."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What runs have taken, invalid tries too."""

    episodes: int
    tokens: int
    """Of the episodes that say."""
    cost: float | None
    """In the currency of the price table, of the episodes whose price is known; None when it is of none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """What a valid episode of an agent took on average; None where nothing is known."""

    seconds: float | None
    tokens: float | None
    cost: float | None


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

    @property
    def engine(self) -> Engine:
        """For questions of other modules of the store."""
        return self._engine

    @property
    def writers(self) -> int:
        """How many episodes are worth writing at once: on SQLite one, on PostgreSQL others go on while a commit waits
        for the disk."""
        return 1 if is_sqlite(self._engine.url) else 4

    def close(self) -> None:
        """Free the connections."""
        self._engine.dispose()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # writing

    def add_runs(self, runs: Sequence[NewRun]) -> None:
        """Write the runs with their whole plans, all or none."""
        with writing(self._engine) as connection:
            one_at_a_time(connection, PLANNING)
            for run in runs:
                add_plan(connection, run)

    def record(self, run: str, slot: int, try_: int, trajectory: Trajectory) -> bool:
        """Write one episode; False, and nothing is written, when somebody else has settled that try already."""
        written = Written(trajectory)
        with writing(self._engine) as connection:
            return written.write(connection, run, slot, try_)

    def start_sitting(self, run: str, servers: Sequence[str]) -> None:
        """Note that the run is being played, and where."""
        self._update_run(run, stopped=None, servers=list(servers))

    def stop(self, run: str, reason: str) -> None:
        """Note why a sitting ended early."""
        self._update_run(run, stopped=reason.replace("\x00", "\N{REPLACEMENT CHARACTER}"))

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

    def reopen(self, run: str, *, reason: str, tasks: Sequence[str] = (), overwrite: bool = False) -> int:
        """Open settled slots again and return how many: those that were lost, and with `overwrite` valid ones too.

        `tasks` are ids; none means all. Earlier tries of the slots stay, as superseded ones that no longer count.
        """
        with writing(self._engine) as connection:
            return reopen(connection, run, reason=reason, tasks=tasks, overwrite=overwrite)

    def delete(self, run: str, *, reason: str) -> int:
        """Remove the episodes of a run and return how many. The run, its plan and its counters stay, and count.

        Pictures that no other run refers to go with them.
        """
        with writing(self._engine) as connection:
            gone = delete_episodes(connection, run, reason=reason)
        pictures_in(self).sweep(lambda: [row.id for row in self.runs() if row.deleted_at is None])
        return gone

    def keep(self, found: Mapping[str, tuple[str, bytes]]) -> None:
        """Keep `{key: (version, data)}`, in place of what had these keys."""
        rows = [{"key": key, "version": version, "data": data} for key, (version, data) in sorted(found.items())]
        with writing(self._engine) as connection:
            for some in chunks(rows):
                new = dialect_insert(connection, DerivedRow).values(some)
                values = {"version": new.excluded.version, "data": new.excluded.data}
                connection.execute(new.on_conflict_do_update(index_elements=["key"], set_=values))

    def _update_run(self, run: str, **values: Any) -> None:
        with writing(self._engine) as connection:
            connection.execute(update(RunRow).where(RunRow.id == run).values(**values))

    # questions

    @contextmanager
    def view(self) -> Iterator[View]:
        """One state of the database, for several questions."""
        with reading(self._engine) as connection:
            yield View(connection)

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
        open_ = RunRow.finished_at.is_(None), RunRow.deleted_at.is_(None)
        query = select(RunRow).where(*open_).order_by(RunRow.created_at.desc(), RunRow.id)
        with self._session() as session:
            rows = list(session.scalars(query if batch is None else query.where(RunRow.batch == batch)))
        return [row for row in rows if row.batch == rows[0].batch][::-1]

    def progress(self, run: str) -> Progress:
        """How far a run is."""
        query = select(RunRow.planned, RunRow.valid, RunRow.lost).where(RunRow.id == run)
        with reading(self._engine) as connection:
            row = connection.execute(query).one()
        return Progress(planned=row.planned, valid=row.valid, lost=row.lost)

    def spent(self, runs: Sequence[str]) -> Spent:
        """What the runs have taken so far, all tries."""
        columns = (RunRow.tries, RunRow.prompt_tokens, RunRow.completion_tokens, RunRow.cost, RunRow.priced)
        query = select(*(func.coalesce(func.sum(column), 0).label(column.key) for column in columns))
        with reading(self._engine) as connection:
            row = connection.execute(query.where(RunRow.id.in_(runs))).one()
        tokens = int(row.prompt_tokens) + int(row.completion_tokens)
        return Spent(episodes=int(row.tries), tokens=tokens, cost=float(row.cost) if row.priced else None)

    def means(self, agent: str) -> dict[str, Means]:
        """What the valid episodes of the agent of that label took, by env id."""
        query = (
            select(
                TaskRow.task_env,
                _mean(TaskRow.seconds_sum, TaskRow.valid),
                _mean(TaskRow.tokens_sum, TaskRow.told),
                _mean(TaskRow.cost_sum, TaskRow.priced),
            )
            .join(RunRow, RunRow.id == TaskRow.run_id)
            .where(RunRow.agent == agent)
            .group_by(TaskRow.task_env)
        )
        with reading(self._engine) as connection:
            return {
                env: Means(seconds=seconds, tokens=tokens, cost=cost)
                for env, seconds, tokens, cost in connection.execute(query)
            }

    def open_slots(self, run: str) -> list[OpenSlot]:
        """What is still to be played, in order."""
        tasks = select(TaskRow).where(TaskRow.run_id == run)
        slots = (
            select(SlotRow.slot, SlotRow.attempt, SlotRow.tries, SlotRow.first_try, SlotRow.position)
            .where(SlotRow.run_id == run, SlotRow.state == "open")
            .order_by(SlotRow.tries - SlotRow.first_try, SlotRow.slot)
        )
        with self._session() as session:
            found = {task.position: (task.env, task_ref(task)) for task in session.scalars(tasks)}
            return [
                OpenSlot(
                    run=run, slot=slot, attempt=attempt, tries=tries, left=MAX_TRIES - (tries - first),
                    env=found[position][0], task=found[position][1],
                )
                for slot, attempt, tries, first, position in session.execute(slots)
            ]  # fmt: skip

    def ask(self, query: str, *, rows: int = ROWS) -> Asked:
        """The first rows of a SELECT of the user's own, on a connection that cannot write."""
        return ask(self._engine, query, rows=rows)

    def cached(self, keys: Iterable[str]) -> dict[str, tuple[str, bytes]]:
        """`{key: (version, data)}` of what was kept under these keys."""
        with self.view() as view:
            return view.cached(keys)

    def tasks(self, *, suite: str | None = None, run: str | None = None) -> list[tuple[RunRow, TaskRow]]:
        """Every task with its counters beside its run; of one suite, of one run, or all."""
        chosen = select(RunRow)
        if suite is not None:
            chosen = chosen.where(RunRow.suite == suite)
        if run is not None:
            chosen = chosen.where(RunRow.id == run)
        ids = chosen.with_only_columns(RunRow.id)
        query = select(TaskRow).where(TaskRow.run_id.in_(ids)).order_by(TaskRow.run_id, TaskRow.position)
        with self._session() as session:
            # not a join: it would read a run's JSON again for each of its tasks
            owners = session.scalars(chosen.order_by(RunRow.created_at, RunRow.id)).all()
            tasks: dict[str, list[TaskRow]] = {owner.id: [] for owner in owners}
            for task in session.scalars(query):
                if task.run_id in tasks:  # not of a run that was written in between
                    tasks[task.run_id].append(task)
        return [(owner, task) for owner in owners for task in tasks[owner.id]]

    def outcomes(self, run: str) -> list[tuple[str, str, int]]:
        """How often each outcome came up, as `(env, outcome, count)`; every try counts."""
        query = text(
            "SELECT env, outcome, COUNT(*) FROM v_episodes WHERE run_id = :run"
            " GROUP BY env, outcome ORDER BY env, outcome"
        )
        with reading(self._engine) as connection:
            return [(env, outcome, count) for env, outcome, count in connection.execute(query, {"run": run})]

    def breaking_tasks(self, run: str) -> list[tuple[str, str, str]]:
        """`(env, task, error)` of the tasks with a slot on which all tries ended in the same `env_error`."""
        with self.view() as view:
            return view.breaking_tasks(run)

    def unread(self, run: str, env: str) -> tuple[str, str] | None:
        """`(text, reason)` of the first completion of a run that was no action; None where each was one."""
        query = (
            select(TurnRow.action, TurnRow.malformed)
            .join(EpisodeRow, EpisodeRow.id == TurnRow.episode_id)
            .join(SlotRow, (SlotRow.run_id == EpisodeRow.run_id) & (SlotRow.slot == EpisodeRow.slot))
            .join(TaskRow, (TaskRow.run_id == SlotRow.run_id) & (TaskRow.position == SlotRow.position))
            .where(EpisodeRow.run_id == run, EpisodeRow.valid, EpisodeRow.malformed > 0)
            .where(TaskRow.env == env, TurnRow.malformed.is_not(None))
            .order_by(EpisodeRow.slot, EpisodeRow.try_, TurnRow.number)
            .limit(1)
        )
        with reading(self._engine) as connection:
            found = connection.execute(query).first()
        return None if found is None else (str(found.action), str(found.malformed))

    def actions(self, run: str, *, tasks: int) -> list[tuple[int, int, str]]:
        """`(position, episode, action)` of every step of the valid attempts at the first `tasks` tasks, as played."""
        query = text(
            "SELECT s.position, e.id, t.action FROM slots s"
            " JOIN episodes e ON e.run_id = s.run_id AND e.slot = s.slot AND e.valid AND NOT e.superseded"
            " JOIN turns t ON t.episode_id = e.id"
            " WHERE s.run_id = :run AND s.position < :tasks ORDER BY s.position, e.id, t.number"
        )
        with reading(self._engine) as connection:
            found = connection.execute(query, {"run": run, "tasks": tasks})
            return [(position, episode, action) for position, episode, action in found]

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


def _mean(total: Any, count: Any) -> Any:
    """Sum over sum; None over nothing."""
    return cast(func.sum(total), Double) / func.nullif(cast(func.sum(count), Double), 0)
