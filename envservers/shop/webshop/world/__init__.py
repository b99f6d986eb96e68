"""The seeded catalogue and its wishes."""
