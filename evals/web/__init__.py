"""Pages over the store: the leaderboard, runs, comparisons and episodes, for looking at and never for writing."""
