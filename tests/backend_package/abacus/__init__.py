"""A stranger's training backend."""
