"""The first tables and views."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

VIEWS = {
    "v_episodes": """
        SELECT e.id, e.run_id, r.suite, r.agent, t.env, t.task_id, t.split, t.category, t.difficulty,
               s.attempt, e.slot, e.try, e.finished_at, e.outcome, e.valid, e.success, e.reward, e.score, e.steps,
               e.malformed, e.prompt_tokens, e.completion_tokens, e.oracle, e.error
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
               SUM(t.score_sum) AS score_sum, SUM(t.scored) AS scored
        FROM tasks t
        JOIN runs r ON r.id = t.run_id
        GROUP BY r.suite, r.suite_hash, r.world_hash, r.agent, r.agent_hash, r.reference, r.task_limit,
                 t.env, t.task_id, t.split, t.category, t.difficulty
    """,
    "v_leaderboard": """
        SELECT suite, suite_hash, world_hash, agent, agent_hash, reference, task_limit, env,
               COUNT(*) AS tasks, SUM(valid) AS n, SUM(lost) AS invalid, SUM(planned) AS planned,
               AVG(CASE WHEN valid > 0 THEN 1.0 * success / valid END) AS success,
               AVG(CASE WHEN valid > 0 THEN reward_sum / valid END) AS mean_return,
               AVG(CASE WHEN valid > 0 THEN 1.0 * steps_sum / valid END) AS mean_steps
        FROM v_tasks
        GROUP BY suite, suite_hash, world_hash, agent, agent_hash, reference, task_limit, env
    """,
}
"""By name, in the order in which they are made; docs/evaluation.md describes them."""


def upgrade() -> None:
    """To this revision."""
    op.create_table(
        "blobs",
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("sha256", name="pk_blobs"),
    )
    op.create_table(
        "runs",
        sa.Column("id", sa.String(length=80), nullable=False),
        sa.Column("batch", sa.String(length=80), nullable=False),
        sa.Column("created_at", sa.String(length=40), nullable=False),
        sa.Column("finished_at", sa.String(length=40), nullable=True),
        sa.Column("stopped", sa.Text(), nullable=True),
        sa.Column("suite", sa.String(length=200), nullable=False),
        sa.Column("suite_hash", sa.String(length=64), nullable=False),
        sa.Column("suite_source", sa.Text(), nullable=False),
        sa.Column("suite_data", sa.JSON(), nullable=False),
        sa.Column("worlds", sa.JSON(), nullable=False),
        sa.Column("world_hash", sa.String(length=64), nullable=False),
        sa.Column("agent", sa.String(length=200), nullable=False),
        sa.Column("agent_hash", sa.String(length=64), nullable=False),
        sa.Column("agent_data", sa.JSON(), nullable=False),
        sa.Column("agent_settings", sa.JSON(), nullable=False),
        sa.Column("reference", sa.Boolean(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("first_attempt", sa.Integer(), nullable=False),
        sa.Column("task_limit", sa.Integer(), nullable=True),
        sa.Column("planned", sa.Integer(), nullable=False),
        sa.Column("software", sa.JSON(), nullable=False),
        sa.Column("servers", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_runs"),
    )
    op.create_index("ix_runs_batch", "runs", ["batch"])
    op.create_table(
        "tasks",
        sa.Column("run_id", sa.String(length=80), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("env", sa.String(length=80), nullable=False),
        sa.Column("task_id", sa.String(length=200), nullable=False),
        sa.Column("task_env", sa.String(length=80), nullable=False),
        sa.Column("split", sa.String(length=80), nullable=False),
        sa.Column("task_index", sa.Integer(), nullable=False),
        sa.Column("category", sa.Text(), nullable=False),
        sa.Column("difficulty", sa.Integer(), nullable=False),
        sa.Column("template", sa.Text(), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("planned", sa.Integer(), nullable=False),
        sa.Column("valid", sa.Integer(), nullable=False),
        sa.Column("success", sa.Integer(), nullable=False),
        sa.Column("lost", sa.Integer(), nullable=False),
        sa.Column("invalid_tries", sa.Integer(), nullable=False),
        sa.Column("reward_sum", sa.Double(), nullable=False),
        sa.Column("steps_sum", sa.Integer(), nullable=False),
        sa.Column("success_steps_sum", sa.Integer(), nullable=False),
        sa.Column("malformed_sum", sa.Integer(), nullable=False),
        sa.Column("seconds_sum", sa.Double(), nullable=False),
        sa.Column("score_sum", sa.Double(), nullable=False),
        sa.Column("scored", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name="fk_tasks_runs"),
        sa.PrimaryKeyConstraint("run_id", "position", name="pk_tasks"),
    )
    op.create_table(
        "slots",
        sa.Column("run_id", sa.String(length=80), nullable=False),
        sa.Column("slot", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(length=8), nullable=False),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["run_id", "position"], ["tasks.run_id", "tasks.position"], name="fk_slots_tasks"),
        sa.PrimaryKeyConstraint("run_id", "slot", name="pk_slots"),
    )
    op.create_index("ix_slots_run_id_state", "slots", ["run_id", "state"])
    op.create_table(
        "episodes",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("run_id", sa.String(length=80), nullable=False),
        sa.Column("slot", sa.Integer(), nullable=False),
        sa.Column("try", sa.Integer(), nullable=False),
        sa.Column("finished_at", sa.String(length=40), nullable=False),
        sa.Column("outcome", sa.String(length=20), nullable=False),
        sa.Column("valid", sa.Boolean(), nullable=False),
        sa.Column("success", sa.Boolean(), nullable=False),
        sa.Column("reward", sa.Double(), nullable=False),
        sa.Column("last_reward", sa.Double(), nullable=False),
        sa.Column("score", sa.Double(), nullable=True),
        sa.Column("steps", sa.Integer(), nullable=False),
        sa.Column("malformed", sa.Integer(), nullable=False),
        sa.Column("prompt_tokens", sa.BigInteger(), nullable=True),
        sa.Column("completion_tokens", sa.BigInteger(), nullable=True),
        sa.Column("oracle", sa.Boolean(), nullable=False),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("record", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["run_id", "slot"], ["slots.run_id", "slots.slot"], name="fk_episodes_slots"),
        sa.PrimaryKeyConstraint("id", name="pk_episodes"),
    )
    op.create_index("uq_episodes_run_id_slot_try", "episodes", ["run_id", "slot", "try"], unique=True)
    op.create_table(
        "turns",
        sa.Column(
            "episode_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False
        ),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("observation", sa.Text(), nullable=True),
        sa.Column("observation_blob", sa.String(length=64), nullable=True),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("malformed", sa.Text(), nullable=True),
        sa.Column("reward", sa.Double(), nullable=False),
        sa.Column("extra", sa.LargeBinary(), nullable=True),
        sa.ForeignKeyConstraint(["episode_id"], ["episodes.id"], name="fk_turns_episodes"),
        sa.ForeignKeyConstraint(["observation_blob"], ["blobs.sha256"], name="fk_turns_blobs"),
        sa.PrimaryKeyConstraint("episode_id", "number", name="pk_turns"),
    )
    for name, query in VIEWS.items():
        op.execute(f"CREATE VIEW {name} AS {query}")
