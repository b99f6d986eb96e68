"""Shops: environments in which things are looked for and bought."""
