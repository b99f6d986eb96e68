"""Environments about elementary science."""
