"""The server: a table of sessions, and its HTTP and WebSocket doors."""
