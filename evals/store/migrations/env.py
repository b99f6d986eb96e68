"""Alembic's environment: migrates over the connection that it is handed, inside that connection's transaction."""

from alembic import context

from evals.store.schema import Base

context.configure(connection=context.config.attributes["connection"], target_metadata=Base.metadata)
with context.begin_transaction():
    context.run_migrations()
