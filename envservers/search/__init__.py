"""Multi-turn retrieval and question answering: an encyclopedia of invented facts, or a corpus of one's own."""
