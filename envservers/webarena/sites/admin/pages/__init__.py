"""The administration's page functions, one file a part of it."""
