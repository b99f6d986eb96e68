"""Retrievers: from queries to the passages that fit best."""
