"""The tables, as SQLAlchemy models. A change here needs a migration; a test compares the two.

runs      one agent on one suite: what was measured, by what, and in which world
tasks     the tasks of a run in order of play, each with the counters that tables are computed from
slots     the plan: one row an attempt, played once, and again (at most three tries) while it is invalid
episodes  every try, the invalid ones too
turns     the steps of an episode
blobs     long texts once, compressed, by their sha256
derived   what takes long to compute from counters; may be emptied at any time
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Double,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Text,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column


class Base(DeclarativeBase):
    """Constraints get names, so that a later migration can change them on every database."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "fk": "fk_%(table_name)s_%(referred_table_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    type_annotation_map = {dict[str, Any]: JSON, list[Any]: JSON, str: Text, float: Double}  # noqa: RUF012  SQLAlchemy's own form


class RunRow(Base):
    """One agent on one suite."""

    __tablename__ = "runs"

    id: Mapped[str] = mapped_column(String(80), primary_key=True)
    batch: Mapped[str] = mapped_column(String(80), index=True)
    """Runs that one command started share it; resume takes them together."""
    created_at: Mapped[str] = mapped_column(String(40))
    """UTC, ISO 8601."""
    finished_at: Mapped[str | None] = mapped_column(String(40))
    stopped: Mapped[str | None]
    """Why the last sitting ended early, where it could say so."""
    suite: Mapped[str] = mapped_column(String(200))
    suite_hash: Mapped[str] = mapped_column(String(64))
    suite_source: Mapped[str]
    """Name or path that the suite was loaded by."""
    suite_data: Mapped[dict[str, Any]]
    worlds: Mapped[list[Any]]
    """Version, tasks digest, options, limit and number of tasks of each env of the suite."""
    world_hash: Mapped[str] = mapped_column(String(64))
    agent: Mapped[str] = mapped_column(String(200))
    """What tables call it."""
    agent_hash: Mapped[str] = mapped_column(String(64))
    agent_data: Mapped[dict[str, Any]]
    """The agent's description of itself and of its prompts: all that makes two agents the same one."""
    agent_settings: Mapped[dict[str, Any]]
    """What it was made with; never a key."""
    reference: Mapped[bool]
    """It is told the solution, so it is shown and never ranked."""
    attempts: Mapped[int]
    first_attempt: Mapped[int]
    """Number of its first attempt: a further run of the same agent goes on where the last one ended."""
    task_limit: Mapped[int | None]
    """`--limit`: tasks of each env at most."""
    planned: Mapped[int]
    """Slots."""
    software: Mapped[dict[str, Any]]
    """Versions of packages, Python and platform, and the git state of the source."""
    servers: Mapped[list[Any]]
    """Where the last sitting played; empty means inside its own process."""
    valid: Mapped[int] = mapped_column(default=0)
    """Slots that have a valid episode."""
    lost: Mapped[int] = mapped_column(default=0)
    """Slots without a valid try after all of them."""
    tries: Mapped[int] = mapped_column(default=0)
    """Episodes ever written, invalid and superseded ones too: changes with every episode."""
    prompt_tokens: Mapped[int] = mapped_column(BigInteger, default=0)
    """Over all tries that say."""
    completion_tokens: Mapped[int] = mapped_column(BigInteger, default=0)
    cost: Mapped[float] = mapped_column(default=0.0)
    """In the currency of the price table, over all tries whose price is known."""
    priced: Mapped[int] = mapped_column(default=0)
    """Those tries; none of them means that nothing is known, not that it was free."""
    reopened: Mapped[int] = mapped_column(default=0)
    """Settled slots that a command opened again."""
    deleted_at: Mapped[str | None] = mapped_column(String(40))
    """Its episodes are gone; the counters stay and count."""
    seen: Mapped[dict[str, Any] | None]
    """Tasks of its plan that the agent was trained on, by env; None where nobody said what it was trained on."""
    journal: Mapped[list[Any]] = mapped_column(default=list)
    """What commands changed by hand: when, what, why."""


class TaskRow(Base):
    """One task of a run, and what its attempts came to. Only valid attempts are in the sums."""

    __tablename__ = "tasks"

    run_id: Mapped[str] = mapped_column(ForeignKey("runs.id"), primary_key=True)
    position: Mapped[int] = mapped_column(primary_key=True)
    env: Mapped[str] = mapped_column(String(80))
    """The suite's name for it; usually the env's id."""
    task_id: Mapped[str] = mapped_column(String(200))
    task_env: Mapped[str] = mapped_column(String(80))
    """The env's id."""
    split: Mapped[str] = mapped_column(String(80))
    task_index: Mapped[int]
    category: Mapped[str]
    difficulty: Mapped[int]
    template: Mapped[str]
    digest: Mapped[str] = mapped_column(String(64))
    planned: Mapped[int]
    valid: Mapped[int] = mapped_column(default=0)
    success: Mapped[int] = mapped_column(default=0)
    lost: Mapped[int] = mapped_column(default=0)
    """Slots without a valid try after all of them."""
    invalid_tries: Mapped[int] = mapped_column(default=0)
    """Every invalid try, also of a slot that a later one made valid."""
    reward_sum: Mapped[float] = mapped_column(default=0.0)
    steps_sum: Mapped[int] = mapped_column(default=0)
    success_steps_sum: Mapped[int] = mapped_column(default=0)
    """Steps of the successes alone."""
    malformed_sum: Mapped[int] = mapped_column(default=0)
    """Steps whose completion was no action."""
    seconds_sum: Mapped[float] = mapped_column(default=0.0)
    score_sum: Mapped[float] = mapped_column(default=0.0)
    scored: Mapped[int] = mapped_column(default=0)
    """Attempts that have a raw score."""
    tokens_sum: Mapped[int] = mapped_column(BigInteger, default=0)
    """Prompt and completion, of the attempts that say."""
    told: Mapped[int] = mapped_column(default=0)
    """Attempts that say how many tokens they took."""
    cost_sum: Mapped[float] = mapped_column(default=0.0)
    """In the currency of the price table, of the attempts whose price is known."""
    priced: Mapped[int] = mapped_column(default=0)
    """Those attempts."""
    success_seconds_sum: Mapped[float] = mapped_column(default=0.0)
    success_tokens_sum: Mapped[int] = mapped_column(BigInteger, default=0)


class SlotRow(Base):
    """One attempt at one task."""

    __tablename__ = "slots"
    __table_args__ = (
        ForeignKeyConstraint(["run_id", "position"], ["tasks.run_id", "tasks.position"]),
        Index(None, "run_id", "state"),
    )

    run_id: Mapped[str] = mapped_column(String(80), primary_key=True)
    slot: Mapped[int] = mapped_column(primary_key=True)
    """Place in the order of play."""
    position: Mapped[int]
    attempt: Mapped[int]
    state: Mapped[str] = mapped_column(String(8), default="open")
    """open, valid, lost, or gone with the run's episodes."""
    tries: Mapped[int] = mapped_column(default=0)
    first_try: Mapped[int] = mapped_column(default=0)
    """Earlier tries were superseded when the slot was opened again, and do not count."""


class EpisodeRow(Base):
    """One try of a slot."""

    __tablename__ = "episodes"
    __table_args__ = (
        ForeignKeyConstraint(["run_id", "slot"], ["slots.run_id", "slots.slot"]),
        Index("uq_episodes_run_id_slot_try", "run_id", "slot", "try", unique=True),
    )

    id: Mapped[int] = mapped_column(BigInteger().with_variant(Integer, "sqlite"), primary_key=True)
    run_id: Mapped[str] = mapped_column(String(80))
    slot: Mapped[int]
    try_: Mapped[int] = mapped_column("try")
    finished_at: Mapped[str] = mapped_column(String(40))
    outcome: Mapped[str] = mapped_column(String(20))
    valid: Mapped[bool]
    success: Mapped[bool]
    reward: Mapped[float]
    last_reward: Mapped[float]
    score: Mapped[float | None]
    steps: Mapped[int]
    malformed: Mapped[int]
    prompt_tokens: Mapped[int | None] = mapped_column(BigInteger)
    """Sum over the turns; unknown where one turn does not say."""
    completion_tokens: Mapped[int | None] = mapped_column(BigInteger)
    reasoning_tokens: Mapped[int | None] = mapped_column(BigInteger)
    """Part of completion_tokens."""
    cached_tokens: Mapped[int | None] = mapped_column(BigInteger)
    """Part of prompt_tokens."""
    cost: Mapped[float | None]
    """In the currency of the price table; unknown where the price of one turn is."""
    seconds: Mapped[float] = mapped_column(default=0.0)
    """From the first call to the last."""
    superseded: Mapped[bool] = mapped_column(default=False)
    """A command opened the slot again afterwards."""
    oracle: Mapped[bool]
    error: Mapped[str | None]
    record: Mapped[dict[str, Any]]
    """The trajectory's other fields, as in its JSON line, without turns."""


class TurnRow(Base):
    """One step."""

    __tablename__ = "turns"

    episode_id: Mapped[int] = mapped_column(ForeignKey("episodes.id"), primary_key=True, autoincrement=False)
    number: Mapped[int] = mapped_column(primary_key=True)
    """From 0."""
    observation: Mapped[str | None]
    """What the agent saw before it acted; in `blobs` where it is long."""
    observation_blob: Mapped[str | None] = mapped_column(ForeignKey("blobs.sha256"), index=True)
    action: Mapped[str]
    malformed: Mapped[str | None]
    reward: Mapped[float]
    extra: Mapped[bytes | None] = mapped_column(LargeBinary)
    """zlib of the JSON of every other field of the turn."""


class BlobRow(Base):
    """A long text."""

    __tablename__ = "blobs"

    sha256: Mapped[str] = mapped_column(String(64), primary_key=True)
    data: Mapped[bytes] = mapped_column(LargeBinary)
    """zlib of UTF-8."""


class DerivedRow(Base):
    """Something that takes long to compute."""

    __tablename__ = "derived"

    key: Mapped[str] = mapped_column(String(64), primary_key=True)
    """sha256 over what it is."""
    version: Mapped[str] = mapped_column(String(64))
    """sha256 over what it was computed from and by which code; another one replaces it."""
    data: Mapped[bytes] = mapped_column(LargeBinary)
    """JSON."""
