"""The rules of the executable contract: one function a rule, listed in `agentenv.testing.rules.table`."""
