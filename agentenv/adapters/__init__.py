"""Environments of other libraries behind this project's contract."""
