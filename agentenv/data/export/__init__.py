"""Episodes in the forms that other projects read."""
