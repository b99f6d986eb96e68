"""Questions about databases, answered by one SQL query."""
