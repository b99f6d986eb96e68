"""The trainer plug-in."""
