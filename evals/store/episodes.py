"""Writing one episode: its row, its turns and long texts, the slot, and the counters of task and run.

What every episode needs is made once: building a statement takes longer than SQLite takes to execute it. Rows are
locked in one order everywhere: slots, blobs, tasks, runs.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from typing import Any, cast

from sqlalchemy import Connection, Table, bindparam, insert, select, text, update
from sqlalchemy.dialects import postgresql, sqlite

from agentenv.trajectory import Trajectory
from evals.plan import MAX_TRIES
from evals.store.counters import RUN_SUMS, TASK_SUMS, run_additions, task_additions
from evals.store.plans import utc_now
from evals.store.records import episode_values, turn_values
from evals.store.schema import BlobRow, EpisodeRow, RunRow, SlotRow, TaskRow, TurnRow


class Written:
    """An episode as rows, made before the transaction that writes them begins."""

    def __init__(self, trajectory: Trajectory) -> None:
        self.episode = episode_values(trajectory)
        turns = [turn_values(turn) for turn in trajectory.turns]
        self.turns = [values for values, _ in turns]
        self.texts = {str(values["observation_blob"]): long for values, long in turns if long is not None}

    def write(self, connection: Connection, run: str, slot: int, try_: int) -> bool:
        """Write it as that try of the slot; False, and nothing is written, when the try is settled already."""
        row = connection.execute(_SLOT, {"run": run, "slot": slot}).one()
        if row.state != "open" or row.tries != try_:
            return False
        place = {"run_id": run, "slot": slot, "try": try_, "finished_at": utc_now()}
        id_ = connection.execute(_NEW_EPISODE, {**place, **self.episode}).scalar_one()
        _add_blobs(connection, self.texts)
        if self.turns:
            rows = [{"episode_id": id_, "number": number, **values} for number, values in enumerate(self.turns)]
            connection.execute(_NEW_TURN, rows)
        lost = not self.episode["valid"] and try_ + 1 - row.first_try >= MAX_TRIES
        state = "valid" if self.episode["valid"] else "lost" if lost else "open"
        connection.execute(_SETTLE, {"run": run, "number": slot, "to_state": state, "to_tries": try_ + 1})
        _add(connection, _TO_TASK, task_additions(self.episode, lost=lost), run_id=run, position=row.position)
        _add(connection, _TO_RUN, run_additions(self.episode, lost=lost), id=run)
        return True


def _adding(table: Any, columns: Sequence[str], place: Sequence[str]) -> Any:
    """The statement that adds to the columns of one row; by the database, so that nobody's addition is lost."""
    there = [getattr(table, name) == bindparam(f"at_{name}") for name in place]
    return (
        update(table.__table__)
        .where(*there)
        .values({name: getattr(table, name) + bindparam(f"add_{name}") for name in columns})
    )


def _add(connection: Connection, statement: Any, additions: Mapping[str, int | float], **place: Any) -> None:
    at = {f"at_{name}": value for name, value in place.items()}
    connection.execute(statement, {**at, **{f"add_{name}": value for name, value in additions.items()}})


_SLOT = (
    select(SlotRow.state, SlotRow.tries, SlotRow.first_try, SlotRow.position)
    .where(SlotRow.run_id == bindparam("run"), SlotRow.slot == bindparam("slot"))
    .with_for_update()
)
_SLOTS, _EPISODES, _TURNS = (cast("Table", row.__table__) for row in (SlotRow, EpisodeRow, TurnRow))
_SETTLE = (
    update(_SLOTS)
    .where(SlotRow.run_id == bindparam("run"), SlotRow.slot == bindparam("number"))
    .values(state=bindparam("to_state"), tries=bindparam("to_tries"))
)
_TO_TASK = _adding(TaskRow, TASK_SUMS, ("run_id", "position"))
_TO_RUN = _adding(RunRow, RUN_SUMS, ("id",))
_NEW_EPISODE = insert(_EPISODES).returning(EpisodeRow.id)
_NEW_TURN = insert(_TURNS)


def _add_blobs(connection: Connection, texts: Mapping[str, bytes]) -> None:
    """Store the texts that are not there yet; in the order of their hashes, so that no two writers wait for each
    other."""
    if not texts:
        return
    lock_blobs(connection, "ROW EXCLUSIVE")
    there = set(connection.scalars(select(BlobRow.sha256).where(BlobRow.sha256.in_(list(texts)))))
    rows = [{"sha256": sha, "data": zlib.compress(texts[sha])} for sha in sorted(texts) if sha not in there]
    for row in rows:
        connection.execute(dialect_insert(connection, BlobRow).values(row).on_conflict_do_nothing())


def lock_blobs(connection: Connection, mode: str) -> None:
    """Keep a deletion away from texts that a writer has just found, until the writer refers to them."""
    if connection.dialect.name == "postgresql":
        connection.execute(text(f"LOCK TABLE blobs IN {mode} MODE"))


def dialect_insert(connection: Connection, table: Any) -> Any:
    """An insert that can say what to do about a row that is there already."""
    return (postgresql if connection.dialect.name == "postgresql" else sqlite).insert(table)
