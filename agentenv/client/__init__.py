"""The client: one async core over three transports, and the gymnasium faces of it."""
