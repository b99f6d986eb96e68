"""What every tool environment shares: reading calls, a table of typed tools, answers, the episode."""
