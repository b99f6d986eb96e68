"""Runs in SQL: the tables, how a database is opened and migrated, and the questions that it answers."""
