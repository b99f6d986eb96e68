"""The databases: schemas as data, rows from a seed."""
