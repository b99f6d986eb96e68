"""The seeded world: towns, people, companies, and the shop that they meet in."""
