"""What a session changes: a database copied on its first write, the difference to the world, the request log."""
