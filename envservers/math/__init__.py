"""Word problems, answered at once or with a calculator."""
