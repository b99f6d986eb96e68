"""Counters of a run, tokens and cost, slots that are opened again, tombstones, and a table of computed results."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

VIEWS = {
    "v_episodes": """
        SELECT e.id, e.run_id, r.suite, r.agent, t.env, t.task_id, t.split, t.category, t.difficulty,
               s.attempt, e.slot, e.try, e.finished_at, e.outcome, e.valid, e.superseded, e.success, e.reward, e.score,
               e.steps, e.malformed, e.seconds, e.prompt_tokens, e.completion_tokens, e.reasoning_tokens,
               e.cached_tokens, e.cost, e.oracle, e.error
        FROM episodes e
        JOIN runs r ON r.id = e.run_id
        JOIN slots s ON s.run_id = e.run_id AND s.slot = e.slot
        JOIN tasks t ON t.run_id = s.run_id AND t.position = s.position
    """,
    "v_tasks": """
        SELECT r.suite, r.suite_hash, r.world_hash, r.agent, r.agent_hash, r.reference, r.task_limit,
               t.env, t.task_id, t.split, t.category, t.difficulty,
               COUNT(*) AS runs, SUM(t.planned) AS planned, SUM(t.valid) AS valid, SUM(t.success) AS success,
               SUM(t.lost) AS lost, SUM(t.invalid_tries) AS invalid_tries, SUM(t.reward_sum) AS reward_sum,
               SUM(t.steps_sum) AS steps_sum, SUM(t.success_steps_sum) AS success_steps_sum,
               SUM(t.malformed_sum) AS malformed_sum, SUM(t.seconds_sum) AS seconds_sum,
               SUM(t.success_seconds_sum) AS success_seconds_sum,
               SUM(t.score_sum) AS score_sum, SUM(t.scored) AS scored,
               CAST(SUM(t.tokens_sum) AS BIGINT) AS tokens_sum,
               CAST(SUM(t.success_tokens_sum) AS BIGINT) AS success_tokens_sum, SUM(t.told) AS told,
               SUM(t.cost_sum) AS cost_sum, SUM(t.priced) AS priced
        FROM tasks t
        JOIN runs r ON r.id = t.run_id
        GROUP BY r.suite, r.suite_hash, r.world_hash, r.agent, r.agent_hash, r.reference, r.task_limit,
                 t.env, t.task_id, t.split, t.category, t.difficulty
    """,
    "v_leaderboard": """
        SELECT suite, suite_hash, world_hash, agent, agent_hash, reference, task_limit, env,
               COUNT(*) AS tasks, CAST(SUM(valid) AS BIGINT) AS n, CAST(SUM(lost) AS BIGINT) AS invalid,
               CAST(SUM(planned) AS BIGINT) AS planned,
               AVG(CASE WHEN valid > 0 THEN CAST(success AS DOUBLE PRECISION) / valid END) AS success,
               AVG(CASE WHEN valid > 0 THEN reward_sum / valid END) AS mean_return,
               AVG(CASE WHEN valid > 0 THEN CAST(steps_sum AS DOUBLE PRECISION) / valid END) AS mean_steps,
               AVG(CASE WHEN told > 0 THEN CAST(tokens_sum AS DOUBLE PRECISION) / told END) AS mean_tokens,
               AVG(CASE WHEN priced > 0 THEN cost_sum / priced END) AS mean_cost
        FROM v_tasks
        GROUP BY suite, suite_hash, world_hash, agent, agent_hash, reference, task_limit, env
    """,
}
"""By name, in the order in which they are made; docs/evaluation.md describes them."""


def upgrade() -> None:
    """To this revision."""
    for name in reversed(VIEWS):
        op.execute(f"DROP VIEW {name}")
    for table, columns in _columns().items():
        for column in columns:
            op.add_column(table, column)
    op.create_index("ix_turns_observation_blob", "turns", ["observation_blob"])
    op.create_table(
        "derived",
        sa.Column("key", sa.String(length=64), nullable=False),
        sa.Column("version", sa.String(length=64), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("key", name="pk_derived"),
    )
    for statement in _backfill(op.get_bind().dialect.name):
        op.execute(statement)
    for name, query in VIEWS.items():
        op.execute(f"CREATE VIEW {name} AS {query}")


def _columns() -> dict[str, list[sa.Column[Any]]]:
    return {
        "runs": [
            _count("valid"),
            _count("lost"),
            _count("tries"),
            _big("prompt_tokens"),
            _big("completion_tokens"),
            _sum("cost"),
            _count("priced"),
            _count("reopened"),
            sa.Column("deleted_at", sa.String(length=40), nullable=True),
            sa.Column("seen", sa.JSON(), nullable=True),
            sa.Column("journal", sa.JSON(), nullable=False, server_default="[]"),
        ],
        "tasks": [
            _big("tokens_sum"),
            _count("told"),
            _sum("cost_sum"),
            _count("priced"),
            _sum("success_seconds_sum"),
            _big("success_tokens_sum"),
        ],
        "slots": [_count("first_try")],
        "episodes": [
            sa.Column("reasoning_tokens", sa.BigInteger(), nullable=True),
            sa.Column("cached_tokens", sa.BigInteger(), nullable=True),
            sa.Column("cost", sa.Double(), nullable=True),
            _sum("seconds"),
            sa.Column("superseded", sa.Boolean(), nullable=False, server_default=sa.false()),
        ],
    }


def _count(name: str) -> sa.Column[Any]:
    return sa.Column(name, sa.Integer(), nullable=False, server_default="0")


def _big(name: str) -> sa.Column[Any]:
    return sa.Column(name, sa.BigInteger(), nullable=False, server_default="0")


def _sum(name: str) -> sa.Column[Any]:
    return sa.Column(name, sa.Double(), nullable=False, server_default="0")


def _backfill(dialect: str) -> list[str]:
    """What the new columns of old rows are; cost, and the parts of tokens, were not noted and stay unknown."""
    seconds = {
        "sqlite": "json_extract(record, '$.time.total_s')",
        "postgresql": "CAST(record -> 'time' ->> 'total_s' AS DOUBLE PRECISION)",
    }[dialect]
    mine = "FROM slots s JOIN episodes e ON e.run_id = s.run_id AND e.slot = s.slot AND e.valid"
    mine += " WHERE s.run_id = tasks.run_id AND s.position = tasks.position"
    tokens = "e.prompt_tokens + e.completion_tokens"
    return [
        f"UPDATE episodes SET seconds = COALESCE({seconds}, 0)",
        "UPDATE runs SET valid = (SELECT COALESCE(SUM(t.valid), 0) FROM tasks t WHERE t.run_id = runs.id),"
        " lost = (SELECT COALESCE(SUM(t.lost), 0) FROM tasks t WHERE t.run_id = runs.id),"
        " tries = (SELECT COUNT(*) FROM episodes e WHERE e.run_id = runs.id),"
        " prompt_tokens = (SELECT COALESCE(SUM(e.prompt_tokens), 0) FROM episodes e WHERE e.run_id = runs.id),"
        " completion_tokens = (SELECT COALESCE(SUM(e.completion_tokens), 0) FROM episodes e WHERE e.run_id = runs.id)",
        f"UPDATE tasks SET tokens_sum = (SELECT COALESCE(SUM({tokens}), 0) {mine}),"
        f" told = (SELECT COUNT({tokens}) {mine}),"
        f" success_tokens_sum = (SELECT COALESCE(SUM(CASE WHEN e.success THEN {tokens} ELSE 0 END), 0) {mine}),"
        f" success_seconds_sum = (SELECT COALESCE(SUM(CASE WHEN e.success THEN e.seconds ELSE 0 END), 0) {mine})",
    ]
