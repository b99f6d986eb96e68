"""The evaluation harness: suites, runs in SQL, statistics, leaderboard."""
