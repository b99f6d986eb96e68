"""What commands change of a run by hand: slots opened again, episodes deleted. Each leaves a line in its journal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import Connection, delete, func, select, update

from agentenv.errors import BadCall
from evals.store.counters import counted
from evals.store.episodes import lock_blobs
from evals.store.plans import utc_now
from evals.store.schema import BlobRow, EpisodeRow, RunRow, SlotRow, TaskRow, TurnRow


def reopen(connection: Connection, run: str, *, reason: str, tasks: Sequence[str] = (), overwrite: bool = False) -> int:
    """Open settled slots again and return how many: those that were lost, and with `overwrite` valid ones too.

    `tasks` are ids; none means all. Earlier tries of the slots stay, as superseded ones that no longer count.
    """
    if connection.execute(select(RunRow.deleted_at).where(RunRow.id == run)).scalar_one() is not None:
        raise BadCall(f"run {run} was deleted: its counters stand for episodes that are gone, and stay as they are")
    states = ("lost", "valid") if overwrite else ("lost",)
    chosen = (
        select(SlotRow.slot, SlotRow.position)
        .join(TaskRow, (TaskRow.run_id == SlotRow.run_id) & (TaskRow.position == SlotRow.position))
        .where(SlotRow.run_id == run, SlotRow.state.in_(states))
        .order_by(SlotRow.slot)
        .with_for_update(of=SlotRow)
    )
    if tasks:
        chosen = chosen.where(TaskRow.task_id.in_(tasks))
    slots = [slot for slot, _ in connection.execute(chosen)]
    for some in chunks(slots):
        mine = EpisodeRow.run_id == run, EpisodeRow.slot.in_(some)
        connection.execute(update(EpisodeRow).where(*mine).values(superseded=True))
        again = {"state": "open", "first_try": SlotRow.tries}
        connection.execute(update(SlotRow).where(SlotRow.run_id == run, SlotRow.slot.in_(some)).values(again))
    if slots:
        _recount(connection, run)
        what = f"opened {len(slots)} {'settled' if overwrite else 'lost'} attempts again"
        _note(connection, run, what, reason, reopened=RunRow.reopened + len(slots), finished_at=None)
    return len(slots)


def delete_episodes(connection: Connection, run: str, *, reason: str) -> int:
    """Remove the episodes of a run and return how many. The run, its plan and its counters stay, and count."""
    everything = select(SlotRow.slot).where(SlotRow.run_id == run).order_by(SlotRow.slot)
    connection.execute(everything.with_for_update())
    lock_blobs(connection, "SHARE ROW EXCLUSIVE")
    mine = select(EpisodeRow.id).where(EpisodeRow.run_id == run)
    long = select(TurnRow.observation_blob).where(TurnRow.episode_id.in_(mine)).distinct()
    blobs = [blob for blob in connection.scalars(long) if blob is not None]
    connection.execute(delete(TurnRow).where(TurnRow.episode_id.in_(mine)))
    gone = connection.execute(delete(EpisodeRow).where(EpisodeRow.run_id == run)).rowcount
    used = select(TurnRow.observation_blob).where(TurnRow.observation_blob == BlobRow.sha256).exists()
    for some in chunks(blobs):
        connection.execute(delete(BlobRow).where(BlobRow.sha256.in_(some), ~used))
    open_ = update(SlotRow).where(SlotRow.run_id == run, SlotRow.state == "open")
    connection.execute(open_.values(state="gone"))
    _note(connection, run, f"deleted {gone} episodes", reason, deleted_at=utc_now())
    return gone


def _at(statement: Any, **place: Any) -> Any:
    """The statement, for the row of that place alone."""
    return statement.where(*(statement.table.c[name] == value for name, value in place.items()))


def _recount(connection: Connection, run: str) -> None:
    """Set the counters of the run and of its tasks to what its episodes say."""
    by_position = select(SlotRow.position, func.count()).where(SlotRow.run_id == run, SlotRow.state == "lost")
    lost: dict[int, int] = {row[0]: row[1] for row in connection.execute(by_position.group_by(SlotRow.position))}
    valid = 0
    for row in connection.execute(counted(run)).mappings().all():
        sums = {name: value for name, value in row.items() if name != "position"}
        valid += sums["valid"]
        position = row["position"]
        place = {"run_id": run, "position": position}
        connection.execute(_at(update(TaskRow), **place).values({**sums, "lost": lost.get(position, 0)}))
    connection.execute(_at(update(RunRow), id=run).values(valid=valid, lost=sum(lost.values())))


def _note(connection: Connection, run: str, what: str, reason: str, **values: Any) -> None:
    """Write into the journal of a run, and change it."""
    journal = connection.execute(select(RunRow.journal).where(RunRow.id == run).with_for_update()).scalar_one()
    entry = {"at": utc_now(), "what": what, "reason": reason}
    connection.execute(_at(update(RunRow), id=run).values(journal=[*journal, entry], **values))


def chunks(items: Sequence[Any], size: int = 500) -> Iterator[Sequence[Any]]:
    """Parts that a statement can take as parameters."""
    for start in range(0, len(items), size):
        yield items[start : start + size]
