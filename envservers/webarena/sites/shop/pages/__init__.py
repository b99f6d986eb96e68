"""The shop's page functions, one file a part of the shop."""
