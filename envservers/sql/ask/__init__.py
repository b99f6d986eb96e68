"""Questions in words with the queries that answer them."""
