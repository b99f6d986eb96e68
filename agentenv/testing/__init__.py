"""The executable contract for environments, and test doubles for the outer edge."""
