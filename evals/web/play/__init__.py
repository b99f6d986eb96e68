"""The page on which people play: the same observations, grammar and step limit as an agent, and the same store."""
