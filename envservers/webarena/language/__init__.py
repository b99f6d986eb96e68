"""The action language and the observation dialects: pure functions, no engine."""
