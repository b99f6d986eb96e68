"""How an episode is judged: the original rules of WebArena, and typed ones for the embedded sites."""
