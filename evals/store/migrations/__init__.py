"""Alembic's environment and revisions; `evals.store.database` runs them by code when a database is opened."""
