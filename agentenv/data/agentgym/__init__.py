"""Data of AgentGym and AgentGym-RL: lists of ids and recorded conversations, as suites, task lists and records."""
